import type { WireMessage } from '../../src/wire.ts';
import { addCall, addDelta, addResult, addUser, endTurn, finishReply } from './turn-items.ts';
import { emptyTurn, type TurnView } from './view.ts';

/** How the id begins under which rows of no turn are shown. */
const OUTSIDE = 'rows-';

/** Whether these are rows that belong to no turn. */
export const isOutsideTurns = ({ id }: TurnView): boolean => id.startsWith(OUTSIDE);

/** The turns that rows tell of, oldest first. The first one may have begun before them. */
export function turnsOfRows(rows: readonly WireMessage[]): TurnView[] {
  const turns: TurnView[] = [];
  let group: string | null | undefined;
  for (const row of rows) {
    if (row.turn !== group) turns.push(emptyTurn(row.turn ?? `${OUTSIDE}${String(row.at)}`));
    group = row.turn;
    const turn = turns.pop();
    if (turn !== undefined) turns.push(addRow(turn, row));
  }
  return turns;
}

function addRow(turn: TurnView, row: WireMessage): TurnView {
  const key = `row-${String(row.at)}`;
  switch (row.kind) {
    case 'user':
      return addUser(turn, key, row.text, row.attachments?.length ?? 0);
    case 'assistant':
      return finishReply(turn, key, row.text);
    case 'thinking':
      return addDelta(turn, 'thinking', row.text);
    case 'tool_call':
      return addCall(turn, key, row, null);
    case 'tool_result': {
      const { id, ok, value, error, denied = false, abandoned = false } = row;
      const told = { isDenied: denied, isAbandoned: abandoned };
      return addResult(turn, key, id, { ok, value, error, render: null, ...told }, null);
    }
    case 'turn_end':
      return endTurn(turn, key, { kind: row.outcome, error: row.error, reason: null });
    default:
      return row satisfies never;
  }
}
