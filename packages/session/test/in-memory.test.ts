import {
  assistantText,
  Context,
  deriveMessagesFrom,
  IncrementalProjection,
  SESSION_LOG_SERVICE,
  toolResultMessage,
  userMessage,
  type ImageRef,
  type Message,
  type SessionEvent,
  type SessionLog,
} from '@celestea/core';
import { InMemorySessionLog, inMemorySessionLogPlugin } from '@celestea/session';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const PICTURE: ImageRef = {
  attachment_id: 'ab'.repeat(32),
  media_type: 'image/png',
  width: 4,
  height: 3,
};

const ROWS: readonly SessionEvent[] = [
  { type: 'turn_start', id: 'turn-0' },
  { type: 'user_message', text: 'What time is it?' },
  { type: 'thinking_delta', text: 'hm' },
  { type: 'tool_call', id: 'a', name: 'time', args: { zone: 'UTC' } },
  { type: 'tool_call', id: 'b', name: 'time', args: null },
  { type: 'tool_result', id: 'a', value: 'noon', error: null },
  { type: 'tool_result', id: 'b', value: null, error: 'no zone' },
  { type: 'assistant_message', text: 'Noon.' },
  { type: 'turn_end', id: 'turn-0', outcome: 'completed' },
];

const MESSAGES: readonly Message[] = [
  userMessage('What time is it?'),
  {
    role: 'assistant',
    content: [
      { type: 'tool_call', content: { id: 'a', name: 'time', args: { zone: 'UTC' } } },
      { type: 'tool_call', content: { id: 'b', name: 'time', args: null } },
    ],
    tool_call_id: null,
  },
  toolResultMessage('a', '"noon"'),
  toolResultMessage('b', 'Error: no zone'),
  assistantText('Noon.'),
];

describe('rows', () => {
  test('C4.2 a new log is empty', () => {
    const log = new InMemorySessionLog();
    expect(log.events()).toEqual([]);
    expect(log.deriveMessages()).toEqual([]);
    expect('flush' in log).toBe(false);
  });

  test('C4.2 append keeps insertion order and the very rows', () => {
    const log = new InMemorySessionLog();
    for (const row of ROWS) log.append(row);
    const kept = log.events();
    expect(kept).toEqual(ROWS);
    expect(kept.every((row, index) => row === ROWS[index])).toBe(true);
    expect(log.deriveMessages()).toEqual(MESSAGES);
  });

  test('C4.2 a log given rows is the log they were appended to', () => {
    const given = [...ROWS];
    const log = new InMemorySessionLog(given);
    given.length = 0;
    expect(log.events()).toEqual(ROWS);
    expect(log.deriveMessages()).toEqual(MESSAGES);
    expect(new InMemorySessionLog(ROWS.values()).events()).toEqual(ROWS);
  });

  test('C4.2 events and deriveMessages hand out fresh arrays', () => {
    const log = new InMemorySessionLog(ROWS);
    expect(log.events()).not.toBe(log.events());
    expect(log.deriveMessages()).not.toBe(log.deriveMessages());
    log.events().length = 0;
    log.events().push({ type: 'user_message', text: 'forged' });
    log.deriveMessages().reverse();
    log.deriveMessages().push(userMessage('forged'));
    expect(log.events()).toEqual(ROWS);
    expect(log.deriveMessages()).toEqual(MESSAGES);
  });

  test('C4.2 what was handed out does not grow with the log', () => {
    const log = new InMemorySessionLog(ROWS);
    const rows = log.events();
    const messages = log.deriveMessages();
    log.append({ type: 'user_message', text: 'Thanks.' });
    expect(rows).toHaveLength(9);
    expect(messages).toHaveLength(5);
    expect(log.deriveMessages()).toEqual([...MESSAGES, userMessage('Thanks.')]);
  });

  test('C1.5 frozen rows are taken and none is changed', () => {
    const frozen = ROWS.map((row) => Object.freeze(structuredClone(row)));
    const log = new InMemorySessionLog(frozen);
    log.deriveMessages();
    expect(log.events()).toEqual(ROWS);
  });
});

describe('clear', () => {
  test('C4.2 forgets rows and messages, and takes new ones as if it were new', () => {
    const log = new InMemorySessionLog(ROWS);
    log.clear();
    expect(log.events()).toEqual([]);
    expect(log.deriveMessages()).toEqual([]);
    log.append({ type: 'user_message', text: 'Hello.' });
    expect(log.events()).toEqual([{ type: 'user_message', text: 'Hello.' }]);
    expect(log.deriveMessages()).toEqual([userMessage('Hello.')]);
  });

  test('C4.2 an open call does not outlive it', () => {
    const log = new InMemorySessionLog();
    log.append({ type: 'tool_call', id: 'a', name: 'time', args: {} });
    expect(log.deriveMessages()).toHaveLength(2);
    log.clear();
    log.append({ type: 'tool_call', id: 'b', name: 'time', args: {} });
    log.append({ type: 'tool_result', id: 'a', value: 1, error: null });
    log.append({ type: 'tool_result', id: 'b', value: 2, error: null });
    expect(log.deriveMessages()).toEqual([
      {
        role: 'assistant',
        content: [{ type: 'tool_call', content: { id: 'b', name: 'time', args: {} } }],
        tool_call_id: null,
      },
      toolResultMessage('b', '2'),
    ]);
  });

  test('C4.2 what was handed out before stays', () => {
    const log = new InMemorySessionLog(ROWS);
    const rows = log.events();
    const messages = log.deriveMessages();
    log.clear();
    expect(rows).toEqual(ROWS);
    expect(messages).toEqual(MESSAGES);
  });

  test('C4.2 turn ids go on: none is given twice', () => {
    const log = new InMemorySessionLog();
    expect([log.nextTurnId(), log.nextTurnId()]).toEqual(['turn-0', 'turn-1']);
    log.clear();
    expect(log.nextTurnId()).toBe('turn-2');
  });
});

describe('turn ids', () => {
  test('C4.2 count from turn-0, appended rows or not', () => {
    const log = new InMemorySessionLog();
    expect(log.nextTurnId()).toBe('turn-0');
    log.append({ type: 'turn_start', id: 'turn-0' });
    log.append({ type: 'turn_end', id: 'turn-0' });
    expect(log.nextTurnId()).toBe('turn-1');
    expect(log.nextTurnId()).toBe('turn-2');
  });

  const start = (id: string): SessionEvent => ({ type: 'turn_start', id });
  test.each<[string, SessionEvent[], string]>([
    ['no rows', [], 'turn-0'],
    ['one turn', [start('turn-0')], 'turn-1'],
    ['the largest, not the last', [start('turn-7'), start('turn-3')], 'turn-8'],
    ['an end without its start', [{ type: 'turn_end', id: 'turn-4' }], 'turn-5'],
    ['ids of another form', [start('t-9'), start('turn-09'), start('turn--1')], 'turn-0'],
    ['a number that is not safe', [start('turn-9007199254740992')], 'turn-0'],
    ['a user who writes an id', [{ type: 'user_message', text: 'turn-9' }], 'turn-0'],
    ['a call of that id', [{ type: 'tool_call', id: 'turn-9', name: 'x', args: 0 }], 'turn-0'],
  ])('C4.2 go on after the rows given: %s', (_, rows, next) => {
    expect(new InMemorySessionLog(rows).nextTurnId()).toBe(next);
  });
});

describe('the projection', () => {
  test('C4.7 unchanged messages are the same objects from call to call', () => {
    const log = new InMemorySessionLog(ROWS);
    const before = log.deriveMessages();
    log.append({ type: 'user_message', text: 'And now?', attachments: [PICTURE] });
    const after = log.deriveMessages();
    expect(after).toHaveLength(6);
    expect(before.every((message, index) => message === after[index])).toBe(true);
  });

  test('C4.7 C4.6 after every row a call without its result is answered all the same', () => {
    const log = new InMemorySessionLog();
    const answers: unknown[] = [];
    for (const row of ROWS.slice(1, 7)) {
      log.append(row);
      answers.push(
        log.deriveMessages().flatMap(({ tool_call_id, content }) => {
          const [block] = content;
          if (tool_call_id === null || block?.type !== 'text') return [];
          return [`${tool_call_id}: ${block.content.slice(0, 16)}`];
        }),
      );
    }
    expect(answers).toEqual([
      [],
      [],
      ['a: Error: this tool'],
      ['a: Error: this tool', 'b: Error: this tool'],
      ['a: "noon"', 'b: Error: this tool'],
      ['a: "noon"', 'b: Error: no zone'],
    ]);
  });

  const id = fc.constantFrom('a', 'b', 'c');
  const text = fc.constantFrom('', 'hi', 'so');
  const parent = fc.constantFrom({}, {}, {}, { parent_id: 'p' });
  const anyRow: fc.Arbitrary<SessionEvent> = fc.oneof(
    text.map((text): SessionEvent => ({ type: 'user_message', text })),
    text.map((text): SessionEvent => ({ type: 'assistant_message', text })),
    text.map((text): SessionEvent => ({ type: 'thinking_delta', text })),
    id.map((id): SessionEvent => ({ type: 'turn_start', id })),
    id.map((id): SessionEvent => ({ type: 'turn_end', id })),
    fc
      .tuple(id, parent)
      .map(([id, more]): SessionEvent => ({ type: 'tool_call', id, name: 'x', args: id, ...more })),
    fc.tuple(id, fc.constantFrom(null, '', 'no'), parent).map(
      ([id, error, more]): SessionEvent => ({
        type: 'tool_result',
        id,
        value: { attachments: [PICTURE] },
        error,
        ...more,
      }),
    ),
  );
  const clears = fc.constant(null);

  test('C4.2 C4.7 any rows and clears give what the whole log gives, after each', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof({ arbitrary: anyRow, weight: 15 }, clears)), (steps) => {
        const log: SessionLog = new InMemorySessionLog();
        let expected: SessionEvent[] = [];
        for (const row of steps) {
          if (row === null) {
            expected = [];
            log.clear();
          } else {
            expected.push(row);
            log.append(row);
          }
          expect(log.events()).toEqual(expected);
          expect(log.deriveMessages()).toEqual(deriveMessagesFrom(expected));
        }
        expect(new InMemorySessionLog(expected).deriveMessages()).toEqual(log.deriveMessages());
      }),
    );
  });

  test('C4.7 reading is not needed in between: the messages are the same', () => {
    fc.assert(
      fc.property(fc.array(anyRow), (rows) => {
        const projection = new IncrementalProjection();
        for (const row of rows) projection.append(row);
        expect(new InMemorySessionLog(rows).deriveMessages()).toEqual(projection.messages());
      }),
    );
  });
});

describe('the plugin', () => {
  test('C4.2 C5.2 provides the log given, or one new log', () => {
    const log = new InMemorySessionLog(ROWS);
    const ctx = Context.root();
    const plugin = inMemorySessionLogPlugin(log);
    expect(plugin.name()).toBe('celestea.session.InMemorySessionLog');
    plugin.mount(ctx);
    expect(ctx.get(SESSION_LOG_SERVICE)).toBe(log);
    inMemorySessionLogPlugin().mount(ctx);
    expect(ctx.get(SESSION_LOG_SERVICE)).toBeInstanceOf(InMemorySessionLog);
    expect(ctx.require(SESSION_LOG_SERVICE).events()).toEqual([]);
  });

  test('two plugins have two logs, one plugin has one wherever it is mounted', () => {
    const plugin = inMemorySessionLogPlugin();
    const [one, two, other] = [Context.root(), Context.root(), Context.root()];
    plugin.mount(one);
    plugin.mount(two);
    inMemorySessionLogPlugin().mount(other);
    expect(one.require(SESSION_LOG_SERVICE)).toBe(two.require(SESSION_LOG_SERVICE));
    expect(one.require(SESSION_LOG_SERVICE)).not.toBe(other.require(SESSION_LOG_SERVICE));
  });
});
