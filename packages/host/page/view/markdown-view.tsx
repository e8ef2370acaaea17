import type { VNode } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';

import { markdownHtml } from '../markdown.ts';
import { growBlocks, NO_BLOCKS, type Block } from '../model/markdown-blocks.ts';
import { visibleText } from '../model/visible-text.ts';
import { LongText } from './long-text.tsx';
import { InlineText, VisibleText } from './visible-text.tsx';

/** A text in Markdown. While it grows, only its last blocks are read again. */
export function MarkdownView({ text, isGrowing }: { text: string; isGrowing: boolean }): VNode {
  const grown = useRef(NO_BLOCKS);
  const wasGrowing = useRef(isGrowing);
  // what was read piece by piece is read as a whole once, at the end
  if (wasGrowing.current && !isGrowing) grown.current = NO_BLOCKS;
  wasGrowing.current = isGrowing;
  grown.current = growBlocks(grown.current, text.replaceAll(/\r\n?/g, '\n'));
  const { settled, open } = grown.current;
  const blocks = [...settled, ...open];
  const definitions = blocks
    .map(({ raw }) => raw)
    .filter((raw) => raw.length < MAX_DEFINITIONS && DEFINITION.test(raw))
    .join('\n')
    .slice(0, MAX_DEFINITIONS);
  return (
    <div class="markdown">
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} definitions={definitions} />
      ))}
    </div>
  );
}

/** A definition of where links lead that other blocks name. */
const DEFINITION = /^ {0,3}\[[^\]]+\]:/;
/** They are read again with every block that may name one, in UTF-16 units. */
const MAX_DEFINITIONS = 4000;

interface BlockProps {
  readonly block: Block;
  readonly definitions: string;
}

function BlockView({ block, definitions }: BlockProps): VNode {
  const { raw, code, isPlain } = block;
  const html = useMemo(() => {
    if (code !== null || isPlain) return null;
    return markdownHtml(raw.includes('[') ? `${raw}\n\n${definitions}` : raw);
  }, [raw, code !== null, isPlain, definitions]);
  if (code !== null) return <CodeView text={code.text} language={code.language} />;
  if (html === null) return <LongText text={raw} label="Text as it was written" />;
  return <div class="block" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />;
}

function CodeView({ text, language }: { text: string; language: string }): VNode {
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(
      () => {
        setCopied(true);
        setTimeout(() => {
          setCopied(false);
        }, 2000);
      },
      () => undefined,
    );
  };
  const name = language === '' ? 'code' : language;
  const label = visibleText(name);
  return (
    <figure class="code">
      <figcaption>
        <InlineText text={name} />
        <button type="button" class="quiet small" onClick={copy} aria-label={`Copy ${label}`}>
          {isCopied ? 'Copied' : 'Copy'}
        </button>
      </figcaption>
      <pre tabIndex={0} role="group" aria-label={label} dir="ltr">
        <code>
          <VisibleText text={text} />
        </code>
      </pre>
    </figure>
  );
}
