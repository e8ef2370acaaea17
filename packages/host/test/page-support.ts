import {
  callTools,
  done,
  say,
  ScriptedLlm,
  think,
  type Script,
} from '@celestea/agent-loop/testing';
import type { ToolCall, ToolRegistry } from '@celestea/core';
import { askBefore, DefaultToolRegistry, defineTool } from '@celestea/tools';

import { conversation, type RowsPage, type SessionState } from '../page/model/conversation.ts';
import { EMPTY_CONVERSATION, type Conversation, type EventAction } from '../page/model/view.ts';
import { messagePage } from '../src/http/message-rows.ts';
import type { LiveSession } from '../src/sessions/index.ts';
import { liveSession, partsOf, type SeenEvent } from './sessions-support.ts';

export const SESSION = 'a-session';

/** What a page would be told that asks right after an event. */
export interface Cut {
  readonly state: SessionState;
  /** The page of rows before a place. */
  readonly page: (before: number, limit: number) => RowsPage;
}

/** An event, of whatever name. */
export type SeenAction = SeenEvent & Pick<EventAction, 'type' | 'session' | 'seq' | 'now'>;

/** A session from its first event on. */
export interface Recording {
  readonly events: readonly SeenAction[];
  /** One for each event, and one from before the first. */
  readonly cuts: readonly Cut[];
}

const call = (id: string, name: string, args: unknown = {}): ToolCall => ({ id, name, args });
const text = (words: string): Script[number] => ({ kind: 'text', text: words });

function tools(desk: LiveSession['approvals']): ToolRegistry {
  const registry = new DefaultToolRegistry({ findApproval: () => desk });
  const tool = (name: string, execute: () => unknown): void => {
    const parameters = { type: 'object' } as const;
    registry.register(defineTool({ name, description: name, parameters, execute }));
  };
  tool('look', () => ({ found: ['a', 'b'] }));
  tool('break', () => {
    throw new Error('it broke');
  });
  tool('write', () => 'written');
  registry.addGuard(askBefore(['write'], 'it writes'));
  return registry;
}

/** Turns of every kind, one after another, by the real loop over a real log. */
export async function recordSession(): Promise<Recording> {
  let steer: (line: string) => void = () => undefined;
  let cancel: () => void = () => undefined;
  const scripts: Script[] = [
    [
      think('Let '),
      think('me '),
      text('I '),
      think('look.'),
      text('look.'),
      done('I look.', call('a', 'look'), call('b', 'break')),
    ],
    [think('Now I know.'), text('It is '), text('done.'), done('It is done.')],
    [
      think('I write twice.'),
      ...callTools(call('c', 'write', { n: 1 }), call('d', 'write', { n: 2 })),
    ],
    say('One was written.'),
    [
      text('A first'),
      () => {
        steer('and the tests');
      },
      text(' answer.'),
      done('A first answer.'),
    ],
    [think('The tests.'), text('With tests.'), done('With tests.')],
    [
      think('Hm.'),
      text('I begin'),
      () => {
        steer('too late');
        cancel();
      },
      text(' and go on'),
      done('no'),
    ],
    [
      text('I beg'),
      () => {
        throw new Error('the line is cut');
      },
    ],
    callTools(call('e', 'look')),
    callTools(call('f', 'look')),
    callTools(call('g', 'look')),
    [think('An unfinished thought'), text('and word')],
  ];
  const parts = partsOf(new ScriptedLlm(scripts), {
    tools,
    config: { max_steps: 3 },
    progressMs: 1_000_000,
  });
  const { session, reader } = await liveSession(parts);
  steer = (line) => {
    session.steer(line);
  };
  cancel = () => {
    session.cancel('enough');
  };
  const recorder = new Recorder(session);
  reader.events.forEach(recorder.take);
  const kept = reader.events.push.bind(reader.events);
  reader.events.push = (...events) => {
    events.forEach(recorder.take);
    return kept(...events);
  };
  await finish(session, reader);
  return recorder;
}

async function finish(
  session: LiveSession,
  reader: Awaited<ReturnType<typeof liveSession>>['reader'],
): Promise<void> {
  await reader.end(session.startTurn('Look there.'));
  const second = session.startTurn('Write.');
  await reader.until(({ payload }) => payload['call_id'] === 'd' && payload['phase'] === undefined);
  const [first, last] = session.approvals.list();
  session.approvals.allow(first?.id ?? '');
  session.approvals.deny(last?.id ?? '', 'once is enough');
  await reader.end(second);
  for (const input of ['Answer.', 'Cancel.', 'Fail.', 'Go on and on.', 'Break off.']) {
    await reader.end(session.startTurn(input));
  }
}

/** Keeps the events, and what the session was at each. */
class Recorder implements Recording {
  readonly events: SeenAction[] = [];
  readonly cuts: Cut[];
  readonly #session: LiveSession;

  constructor(session: LiveSession) {
    this.#session = session;
    this.cuts = [this.#cut(-1)];
  }

  readonly take = ({ name, turn, payload }: SeenEvent): void => {
    const seq = this.events.length;
    const told = JSON.parse(JSON.stringify(payload)) as Record<string, unknown>;
    this.events.push({
      type: 'event',
      name,
      session: SESSION,
      turn,
      seq,
      payload: told,
      now: seq * 10,
    });
    this.cuts.push(this.#cut(seq));
  };

  #cut(lastEventId: number): Cut {
    const rows = [...this.#session.rows()];
    const state = {
      session: { id: SESSION },
      running: this.#session.running(),
      approvals: this.#session.approvals.list(),
      last_event_id: lastEventId,
      rows: rows.length,
      undelivered: [],
    };
    return { state, page: (at, limit) => messagePage(rows, { kind: 'before', at }, limit) };
  }
}

/** What is shown after opening at a cut and reading all pages of so many rows. */
export function opened(
  { state, page }: Cut,
  limit = 200,
  before = EMPTY_CONVERSATION,
): Conversation {
  const first = page(state.rows, limit);
  let view = conversation(before, { type: 'opened', state, page: first, now: 0 });
  while (view.previous !== null) {
    view = conversation(view, {
      type: 'older',
      session: SESSION,
      page: page(view.previous, limit),
    });
  }
  return view;
}

/** What is shown after events. */
export const after = (view: Conversation, events: readonly SeenAction[]): Conversation =>
  events.reduce((now, event) => conversation(now, event as unknown as EventAction), view);

/** What of a view does not depend on since when it was watched. */
export function lasting({ turns, running, approvals, lastSeq }: Conversation): unknown {
  const shown = turns.map(({ id, items, draft, end }) => ({
    id,
    draft,
    end: end === null ? null : { kind: end.kind, error: end.error },
    items: items.flatMap((item): object[] => {
      switch (item.kind) {
        case 'user':
        case 'reasoning':
          return [{ kind: item.kind, text: item.text }];
        case 'reply':
          return item.isPartial ? [] : [{ kind: item.kind, text: item.text }];
        case 'call': {
          const { id: callId, name, args, result } = item;
          return [
            { callId, name, args, result: result === null ? null : { ...result, render: null } },
          ];
        }
        case 'notice':
          return [];
        default:
          return item satisfies never;
      }
    }),
  }));
  return { turns: shown, running: running?.turn ?? null, approvals, lastSeq };
}
