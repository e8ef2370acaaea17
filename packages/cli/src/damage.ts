import type { OpenReport } from '@celestea/session';

import { formatBytes, formatCount } from './format.ts';
import { safeLine } from './safe-text.ts';

type DamagedLine = OpenReport['skipped'][number];

const MOST_LINES = 20;
const LONGEST_REASON = 200;

/** A line for each damaged line of a session, up to a bound. */
export function damageLines(skipped: readonly DamagedLine[]): string[] {
  const lines = skipped.slice(0, MOST_LINES).map(damageLine);
  const rest = skipped.length - lines.length;
  return rest === 0 ? lines : [...lines, `${formatCount(rest, 'damaged line')} more`];
}

function damageLine({ line, offset, bytes, reason }: DamagedLine): string {
  const where = `line ${String(line)}, at byte ${String(offset)}, ${formatBytes(bytes)}`;
  return `${where}: ${safeLine(reason, LONGEST_REASON)}`;
}
