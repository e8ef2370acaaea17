import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { countWords } from '../model/words.ts';

/** What is shown of a text before somebody asks for all of it, in UTF-16 units. */
const SHOWN = 6000;

/** A text as it is, a long one by its beginning first. Never read as markup. */
export function LongText({ text, label }: { text: string; label: string }): VNode {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > SHOWN;
  return (
    <>
      <pre class="plain" tabIndex={0} role="group" aria-label={label}>
        {isLong && !isWhole ? text.slice(0, SHOWN) : text}
      </pre>
      {isLong && !isWhole && (
        <button
          type="button"
          class="quiet small"
          onClick={() => {
            setWhole(true);
          }}
        >
          Show all {countWords(text.length)} characters
        </button>
      )}
    </>
  );
}
