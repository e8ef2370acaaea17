import DOMPurify from 'dompurify';
import { Marked } from 'marked';

import { visibleText } from './model/visible-text.ts';

const TAGS = (
  'a blockquote br code del em h3 h4 h5 h6 hr li ol p pre strong ' +
  'table tbody td th thead tr ul'
).split(' ');

/** Where a link may lead: a model writes it, a person follows it. */
const LINK = /^(?:https?:\/\/|mailto:)/i;

const purify = DOMPurify(window);
purify.addHook('afterSanitizeAttributes', (node) => {
  if (!node.hasAttribute('href')) return;
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer');
});

/** Markup in the text is shown as it was written; a picture becomes a link to it. */
const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ raw }) => (/^<br\s*\/?>\s*$/i.test(raw) ? '<br>' : escaped(raw)),
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || 'picture')}</a>`,
    codespan: ({ text }) => `<code>${escaped(visibleText(text))}</code>`,
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    heading({ tokens, depth }) {
      // the page has headings of its own above those of a reply
      const tag = `h${String(Math.min(6, Math.max(3, depth + 1)))}`;
      return `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
    },
  },
});

/**
 * Markdown as HTML that can be put into the page: of the tags above, and nothing that acts. `null`
 * when it cannot be read.
 */
export function markdownHtml(markdown: string): string | null {
  try {
    return cleaned(marked.parse(markdown, { async: false }));
  } catch {
    return null;
  }
}

function cleaned(html: string): string {
  return purify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ['href', 'title', 'align', 'start'],
    ALLOWED_URI_REGEXP: LINK,
    ADD_URI_SAFE_ATTR: ['align', 'start'],
    ALLOW_ARIA_ATTR: false,
    ALLOW_DATA_ATTR: false,
  });
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
