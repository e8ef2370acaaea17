import type { VNode } from 'preact';
import { useState } from 'preact/hooks';

import { beginningOf } from '../model/visible-text.ts';
import { countWords } from '../model/words.ts';
import { VisibleText } from './visible-text.tsx';

/** What is shown of a text before somebody asks for all of it, in UTF-16 units. */
export const SHOWN = 6000;

interface LongTextProps {
  readonly text: string;
  readonly label: string;
}

/** A text as it is, a long one by its beginning first. Never read as markup. */
export function LongText({ text, label }: LongTextProps): VNode {
  const [isWhole, setWhole] = useState(false);
  const showAll = (): void => {
    setWhole(true);
  };
  return <CutText text={text} label={label} isWhole={isWhole} showAll={showAll} />;
}

interface CutTextProps extends LongTextProps {
  readonly isWhole: boolean;
  readonly showAll: () => void;
}

/** The same for who has to know whether all of it is shown. */
export function CutText({ text, label, isWhole, showAll }: CutTextProps): VNode {
  const isCut = text.length > SHOWN && !isWhole;
  return (
    <>
      <pre class="plain" dir="ltr" tabIndex={0} role="group" aria-label={label}>
        <VisibleText text={isCut ? beginningOf(text, SHOWN) : text} />
      </pre>
      {isCut && (
        <button type="button" class="quiet small" onClick={showAll}>
          Show all {countWords(text.length)} characters
        </button>
      )}
    </>
  );
}
