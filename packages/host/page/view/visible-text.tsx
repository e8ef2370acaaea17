import type { VNode } from 'preact';

import { visibleParts } from '../model/visible-text.ts';

/** A text that somebody else wrote, with what nobody would see as escapes that stand out. */
export function VisibleText({ text }: { text: string }): VNode {
  return (
    <>
      {visibleParts(text).map((part, index) =>
        part.isEscape ? (
          <span key={index} class="escape">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
    </>
  );
}

/** The same in a line of other text, which it cannot turn round. */
export function InlineText({ text }: { text: string }): VNode {
  return (
    <bdi>
      <VisibleText text={text} />
    </bdi>
  );
}
