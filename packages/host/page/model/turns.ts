import { emptyTurn, type Conversation, type TurnView } from './view.ts';

/** Changes one turn, which is made when there is none of that id. */
export function changeTurn(
  state: Conversation,
  id: string,
  change: (turn: TurnView) => TurnView,
): Conversation {
  const { turns } = state;
  const index = turns.findLastIndex((turn) => turn.id === id);
  const known = turns[index];
  if (known === undefined) return { ...state, turns: [...turns, change(emptyTurn(id))] };
  return { ...state, turns: turns.with(index, change(known)) };
}

/** Gives a screen reader something to say. */
export function announced(state: Conversation, value: string): Conversation {
  return { ...state, announcement: { number: state.announcement.number + 1, value } };
}
