import type { VNode } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';

import { markdownHtml } from '../markdown.ts';
import { closeMarks, growBlocks, NO_BLOCKS, type Block } from '../model/markdown-blocks.ts';

/** A text in Markdown. While it grows, only its last blocks are read again. */
export function MarkdownView({ text, isGrowing }: { text: string; isGrowing: boolean }): VNode {
  const grown = useRef(NO_BLOCKS);
  const wasGrowing = useRef(isGrowing);
  // what was read piece by piece is read as a whole once, at the end
  if (wasGrowing.current && !isGrowing) grown.current = NO_BLOCKS;
  wasGrowing.current = isGrowing;
  grown.current = growBlocks(grown.current, text);
  const { settled, open } = grown.current;
  const blocks = [...settled, ...open];
  const definitions = blocks
    .map(({ raw }) => raw)
    .filter((raw) => DEFINITION.test(raw))
    .join('\n');
  return (
    <div class="markdown">
      {blocks.map((block, index) => {
        const isLast = isGrowing && index === blocks.length - 1;
        return <BlockView key={index} block={block} definitions={definitions} isOpen={isLast} />;
      })}
    </div>
  );
}

/** A definition of where links lead that other blocks name. */
const DEFINITION = /^ {0,3}\[[^\]]+\]:/;

interface BlockProps {
  readonly block: Block;
  readonly definitions: string;
  readonly isOpen: boolean;
}

function BlockView({ block, definitions, isOpen }: BlockProps): VNode {
  const { raw, code } = block;
  const html = useMemo(() => {
    if (code !== null) return '';
    const source = isOpen ? closeMarks(raw) : raw;
    return markdownHtml(raw.includes('[') ? `${source}\n\n${definitions}` : source);
  }, [raw, code !== null, isOpen, definitions]);
  if (code !== null) return <CodeView text={code.text} language={code.language} />;
  return <div class="block" dangerouslySetInnerHTML={{ __html: html }} />;
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
  return (
    <figure class="code">
      <figcaption>
        <span>{name}</span>
        <button type="button" class="quiet small" onClick={copy} aria-label={`Copy ${name}`}>
          {isCopied ? 'Copied' : 'Copy'}
        </button>
      </figcaption>
      <pre tabIndex={0} role="group" aria-label={name}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
