import {
  emptyTurn,
  type CallItem,
  type CallResult,
  type Conversation,
  type Item,
  type TurnEnd,
  type TurnView,
} from './view.ts';

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

/** A call as it is told of, by a row or by an event. */
interface ToldCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** A piece of the reply that is under way. */
export function addDelta(turn: TurnView, part: 'thinking' | 'text', delta: string): TurnView {
  const draft = turn.draft ?? { thinking: '', text: '' };
  return { ...turn, draft: { ...draft, [part]: draft[part] + delta } };
}

/** What was thought so far becomes an item; what was said so far is given up for what is known. */
function closeDraft(turn: TurnView, key: string): TurnView {
  const { draft } = turn;
  if (draft === null) return turn;
  const closed = { ...turn, draft: null };
  if (draft.thinking === '') return closed;
  return addItem(closed, { kind: 'reasoning', key: `${key}-reasoning`, text: draft.thinking });
}

/** The reply of a step is complete; an empty one says nothing. */
export function finishReply(turn: TurnView, key: string, text: string): TurnView {
  const closed = closeDraft(turn, key);
  if (text === '') return closed;
  return addItem(closed, { kind: 'reply', key, text, isPartial: false });
}

/** The user said something. */
export function addUser(turn: TurnView, key: string, text: string, pictures = 0): TurnView {
  return addItem(closeDraft(turn, key), { kind: 'user', key, text, pictures });
}

/** The host said something about the turn. */
export function addNotice(turn: TurnView, key: string, text: string): TurnView {
  return addItem(turn, { kind: 'notice', key, text });
}

/** A call that is there already is not there twice; one whose result came first gets its name. */
export function addCall(
  turn: TurnView,
  key: string,
  { id, name, args }: ToldCall,
  startedMs: number | null,
): TurnView {
  const index = findCall(turn.items, id);
  const known = turn.items[index];
  if (known?.kind === 'call') {
    return known.name === '' ? replaceItem(turn, index, { ...known, name, args }) : turn;
  }
  const call: CallItem = {
    kind: 'call',
    key,
    id,
    name,
    args,
    result: null,
    startedMs,
    endedMs: null,
  };
  return addItem(closeDraft(turn, key), call);
}

/** What came of a call; the first result it gets is the one that counts. */
export function addResult(
  turn: TurnView,
  key: string,
  id: string,
  result: CallResult,
  endedMs: number | null,
): TurnView {
  const index = findCall(turn.items, id);
  const known = turn.items[index];
  if (known?.kind !== 'call') {
    const orphan = { id, name: '', args: null, startedMs: null, endedMs };
    return addItem(closeDraft(turn, key), { kind: 'call', key, ...orphan, result });
  }
  return known.result === null ? replaceItem(turn, index, { ...known, result, endedMs }) : turn;
}

/** The turn is over. A reply that broke off stays to be read, marked as what it is. */
export function endTurn(turn: TurnView, key: string, end: TurnEnd): TurnView {
  const text = turn.draft?.text ?? '';
  const closed = closeDraft(turn, key);
  const told = { ...end, reason: end.reason ?? turn.end?.reason ?? null };
  const ended = { ...closed, end: told };
  return text === '' ? ended : addItem(ended, { kind: 'reply', key, text, isPartial: true });
}

/** Two parts of the same turn as one: `older` comes from a page before that of `newer`. */
export function joinTurns(older: TurnView, newer: TurnView): TurnView {
  if (newer.items.length === 0 && newer.draft !== null) {
    const thinking = (older.draft?.thinking ?? '') + newer.draft.thinking;
    return { ...newer, items: older.items, draft: { ...newer.draft, thinking } };
  }
  const answered = new Map<string, CallItem>();
  for (const item of newer.items) {
    if (item.kind === 'call' && item.name === '') answered.set(item.id, item);
  }
  const joined = new Set<string>();
  const front = closeDraft(older, `${older.id}-joined`).items.map((item) => {
    const answer = item.kind === 'call' ? answered.get(item.id) : undefined;
    if (item.kind !== 'call' || answer === undefined) return item;
    joined.add(item.id);
    return { ...item, result: answer.result, endedMs: answer.endedMs };
  });
  const back = newer.items.filter((item) => item.kind !== 'call' || !joined.has(item.id));
  return { ...newer, items: joinReasoning(front, back) };
}

/** A page may end in the middle of what was thought in one step. */
function joinReasoning(front: readonly Item[], back: readonly Item[]): readonly Item[] {
  const last = front.at(-1);
  const [first, ...rest] = back;
  if (last?.kind !== 'reasoning' || first?.kind !== 'reasoning') return [...front, ...back];
  return [...front.slice(0, -1), { ...last, text: last.text + first.text }, ...rest];
}

function addItem(turn: TurnView, item: Item): TurnView {
  return { ...turn, items: [...turn.items, item] };
}

function replaceItem(turn: TurnView, index: number, item: Item): TurnView {
  return { ...turn, items: turn.items.with(index, item) };
}

function findCall(items: readonly Item[], id: string): number {
  return items.findLastIndex((item) => item.kind === 'call' && item.id === id);
}
