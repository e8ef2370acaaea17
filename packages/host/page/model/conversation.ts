import type { WirePage, WireRunning, WireSession, WireState } from '../../src/wire.ts';
import { applyEvent } from './apply-event.ts';
import { isOutsideTurns, turnsOfRows } from './rows.ts';
import { beginStep, noteCall, noteReply } from './steps.ts';
import { addUser, endTurn, joinTurns } from './turn-items.ts';
import {
  EMPTY_CONVERSATION,
  emptyTurn,
  type Connection,
  type ContextView,
  type Conversation,
  type EventAction,
  type TurnView,
} from './view.ts';

/** What a session is doing at one instant: `rows` and `last_event_id` belong together. */
export type SessionState = Omit<WireState, 'held_elsewhere'> & {
  readonly session: Pick<WireSession, 'id'>;
};

/** Rows, newest page first. */
export type RowsPage = Omit<WirePage, 'next'>;

/** What happens to what is shown. Times are in milliseconds since 1970, by the page's clock. */
export type Action =
  | {
      readonly type: 'opened';
      readonly state: SessionState;
      readonly page: RowsPage;
      readonly now: number;
    }
  | { readonly type: 'older'; readonly session: string; readonly page: RowsPage }
  | { readonly type: 'context'; readonly session: string; readonly context: ContextView }
  | { readonly type: 'connection'; readonly connection: Connection }
  | { readonly type: 'closed' }
  | EventAction;

/** What is shown after an action. Pure; an event that was seen already changes nothing. */
export function conversation(state: Conversation, action: Action): Conversation {
  switch (action.type) {
    case 'opened':
      return opened(state, action.state, action.page, action.now);
    case 'older':
      return action.session === state.session ? withOlder(state, action.page) : state;
    case 'context':
      return action.session === state.session ? { ...state, context: action.context } : state;
    case 'connection':
      return { ...state, connection: action.connection };
    case 'closed':
      return { ...EMPTY_CONVERSATION, announcement: state.announcement };
    case 'event':
      return action.session === state.session ? applyEvent(state, action) : state;
    default:
      return action satisfies never;
  }
}

/** What was watched of a session before, and no row tells of, is kept when it is opened anew. */
function opened(
  before: Conversation,
  { session, running, approvals, last_event_id, rows, undelivered }: SessionState,
  { messages, previous }: RowsPage,
  now: number,
): Conversation {
  const isSame = before.session === session.id;
  const watched = new Map(isSame ? before.turns.map((turn) => [turn.id, turn]) : []);
  const covered = previous === null || rows === 0;
  const told = turnsOfRows(messages);
  const over = running === null ? withoutOpenTurn(told) : told;
  const read = over.map((turn) => withWatched(turn, watched.get(turn.id)));
  const turns = running === null ? read : withRunning(read, running, covered, now);
  return {
    ...EMPTY_CONVERSATION,
    ...(isSame ? { totalTokens: before.totalTokens, context: before.context } : {}),
    session: session.id,
    turns,
    running:
      running === null
        ? null
        : {
            turn: running.turn,
            startedMs: running.started_ms,
            step: running.step,
            deltasPerSecond: null,
          },
    previous,
    lastSeq: last_event_id,
    approvals,
    waiting: running?.waiting ?? [],
    undelivered: withLeft(before.undelivered, over, undelivered),
    connection: before.connection,
    announcement: before.announcement,
  };
}

/** Whoever comes back may have missed what the last turn left when it ended. */
function withLeft(
  before: Conversation['undelivered'],
  turns: readonly TurnView[],
  lines: readonly string[],
): Conversation['undelivered'] {
  const last = turns.findLast(({ end }) => end !== null);
  if (last === undefined || lines.length === 0) return before;
  return { number: before.number + 1, value: { turn: last.id, lines } };
}

/** A turn that does not run and has no end died with its process; its row of that comes later. */
function withoutOpenTurn(turns: readonly TurnView[]): readonly TurnView[] {
  const last = turns.at(-1);
  if (last?.end !== null || isOutsideTurns(last)) return turns;
  const end = { kind: 'interrupted', error: null, reason: null } as const;
  return turns.with(-1, endTurn(last, `${last.id}-end`, end));
}

function withWatched(turn: TurnView, watched: TurnView | undefined): TurnView {
  if (watched === undefined || turn.end === null) return turn;
  const { steps, firstStep, stepCount, milliseconds, tokens } = watched;
  const reason = turn.end.kind === watched.end?.kind ? watched.end.reason : null;
  const end = { ...turn.end, reason };
  return { ...turn, end, steps, firstStep, stepCount, milliseconds, tokens };
}

/** Adds what of the running turn is in no row yet: its reply so far, and perhaps its beginning. */
function withRunning(
  turns: readonly TurnView[],
  running: WireRunning,
  coversAll: boolean,
  now: number,
): TurnView[] {
  const index = turns.findLastIndex(({ id }) => id === running.turn);
  const known = turns[index] ?? emptyTurn(running.turn);
  if (known.end !== null) return [...turns];
  const hasBeginning = coversAll || index !== 0;
  const begun = hasBeginning ? withInput(known, running.input) : known;
  const turn = withOpenStep({ ...begun, draft: draftOf(begun, running) }, running, now);
  return index < 0 ? [...turns, turn] : turns.with(index, turn);
}

/** What starts a turn is written when the turn has started, which may be after this instant. */
function withInput(turn: TurnView, input: string): TurnView {
  if (turn.items[0]?.kind === 'user') return turn;
  const { items } = addUser(emptyTurn(turn.id), `${turn.id}-input`, input);
  return { ...turn, items: [...items, ...turn.items] };
}

/** What was thought is written piece by piece, while the reply is still under way. */
function draftOf({ draft }: TurnView, { reply }: WireRunning): TurnView['draft'] {
  const thinking = (draft?.thinking ?? '') + reply.thinking;
  return thinking === '' && reply.text === '' ? null : { thinking, text: reply.text };
}

/** The steps of a turn that is joined later count from where it was joined. */
function withOpenStep(turn: TurnView, running: WireRunning, now: number): TurnView {
  const open = turn.items.flatMap((item) =>
    item.kind === 'call' && item.result === null ? [item] : [],
  );
  const step = Math.max(1, running.step);
  const begun = beginStep({ ...turn, firstStep: step, stepCount: running.step }, now);
  if (open.length === 0) return begun;
  const replied = noteReply(
    begun,
    open.map(({ id }) => id),
    now,
  );
  return open.reduce((all, { id, name }) => noteCall(all, id, name, now), replied);
}

function withOlder(state: Conversation, { messages, previous }: RowsPage): Conversation {
  const older = turnsOfRows(messages);
  const last = older.at(-1);
  const [first, ...rest] = state.turns;
  const isSplit = last !== undefined && last.id === first?.id;
  const turns = isSplit
    ? [...older.slice(0, -1), joinTurns(last, first), ...rest]
    : [...older, ...state.turns];
  return { ...state, turns, previous };
}
