import { deriveMessagesFrom } from '../projection.ts';
import type { SessionEvent } from '../session-event.ts';
import type { SessionLog } from '../session-log.ts';
import type { ContractAssert, ContractFramework } from './framework.ts';

/** A new, empty log, with what the suite needs besides. */
export interface SessionLogUnderTest {
  readonly log: SessionLog;
  /** Closes the log and opens what it kept; left out where nothing is kept. */
  readonly reopen?: () => SessionLog | Promise<SessionLog>;
  /** Called after each test. */
  readonly dispose?: () => unknown;
}

/** Rows of two turns, with everything a row can carry. */
const ROWS: readonly SessionEvent[] = [
  { type: 'turn_start', id: 'turn-0' },
  { type: 'user_message', text: 'naïve \u2028 𝄞 "quoted"\n\u0000' },
  { type: 'thinking_delta', text: 'unsigned' },
  { type: 'thinking_delta', text: '', meta: { signature: 'c2ln' } },
  { type: 'assistant_message', text: 'I look.', calls_follow: true },
  { type: 'tool_call', id: 'a', name: 'read', args: { path: 'x', '': [1, null, { z: 0 }] } },
  { type: 'tool_call', id: 'b', name: 'read', args: null, meta: 'signed' },
  { type: 'tool_call', id: 'nested', name: 'inner', args: {}, parent_id: 'a' },
  { type: 'tool_result', id: 'nested', value: 1, error: null, parent_id: 'a' },
  { type: 'tool_result', id: 'a', value: 'long'.repeat(9), error: null, surface: { kind: 'own' } },
  { type: 'tool_result', id: 'b', value: null, error: 'cancelled', abandoned: true },
  { type: 'assistant_message', text: '' },
  { type: 'turn_end', id: 'turn-0', outcome: { error: { kind: 'stream', message: 'torn' } } },
  { type: 'turn_start', id: 'turn-1' },
  { type: 'user_message', text: 'again' },
  { type: 'assistant_message', text: 'done' },
  { type: 'turn_end', id: 'turn-1', outcome: 'completed' },
];

/**
 * The contract of a {@link SessionLog} (C4.2, C4.5 to C4.7) as tests. `make` gives a new, empty
 * log for each.
 *
 * @example
 * import { test } from 'node:test';
 * import assert from 'node:assert/strict';
 * sessionLogContract(() => ({ log: new MyLog() }), { test, assert });
 */
export function sessionLogContract(
  make: () => SessionLogUnderTest | Promise<SessionLogUnderTest>,
  { test, assert }: ContractFramework,
): void {
  const contract = (title: string, run: (made: SessionLogUnderTest) => unknown): void => {
    test(`session log: ${title}`, async () => {
      const made = await make();
      try {
        await run(made);
      } finally {
        await made.dispose?.();
      }
    });
  };
  contract('C4.2 starts empty', ({ log }) => {
    assert.deepEqual(log.events(), []);
    assert.deepEqual(log.deriveMessages(), []);
  });
  contract('C4.2 keeps every row as it is, in insertion order', ({ log }) => {
    for (const row of ROWS) log.append(row);
    assert.deepEqual(log.events(), ROWS);
  });
  contract('C4.2 hands out fresh arrays', ({ log }) => {
    for (const row of ROWS) log.append(row);
    log.events().length = 0;
    log.deriveMessages().length = 0;
    assert.deepEqual(log.events(), ROWS);
    assert.deepEqual(log.deriveMessages(), deriveMessagesFrom(ROWS));
  });
  contract('C4.5 C4.6 C4.7 projects as the batch projection does after every row', ({ log }) => {
    ROWS.forEach((row, index) => {
      log.append(row);
      assert.deepEqual(
        log.deriveMessages(),
        deriveMessagesFrom(ROWS.slice(0, index + 1)),
        `after row ${String(index)}, ${row.type}`,
      );
    });
  });
  contract('C4.2 counts turns up, and never gives an id twice', ({ log }) => {
    assert.deepEqual([log.nextTurnId(), log.nextTurnId()], ['turn-0', 'turn-1']);
    log.clear();
    assert.equal(log.nextTurnId(), 'turn-2');
  });
  contract('C4.2 forgets its rows when it is cleared', ({ log }) => {
    for (const row of ROWS) log.append(row);
    log.clear();
    assert.deepEqual(log.events(), []);
    assert.deepEqual(log.deriveMessages(), []);
    for (const row of ROWS) log.append(row);
    assert.deepEqual(log.events(), ROWS);
  });
  contract('C4.2 flushes, also when there is nothing to flush', async ({ log }) => {
    await log.flush?.();
    for (const row of ROWS) {
      log.append(row);
      void log.flush?.();
    }
    await Promise.all([log.flush?.(), log.flush?.()]);
    assert.deepEqual(log.events(), ROWS);
  });
  contract('C6.1 takes what a tool can return', ({ log }) => {
    takesHostileValues(log, assert);
  });
  contract('C4.2 gives back after reopening what it was given, and counts on', async (made) => {
    if (made.reopen === undefined) return;
    for (const row of ROWS) made.log.append(row);
    made.log.append({ type: 'turn_start', id: 'turn-07' });
    made.log.append({ type: 'turn_end', id: 'turn-07', outcome: 'completed' });
    await made.log.flush?.();
    const log = await made.reopen();
    assert.deepEqual(log.events().slice(0, ROWS.length), ROWS);
    assert.deepEqual(log.deriveMessages(), deriveMessagesFrom(ROWS));
    assert.equal(log.nextTurnId(), 'turn-2');
  });
}

function takesHostileValues(log: SessionLog, assert: ContractAssert): void {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const throwing = {
    get field(): never {
      throw new Error('no');
    },
  };
  const values = [cycle, 10n, Number.NaN, undefined, Symbol('s'), () => 1, throwing, '\ud800'];
  values.forEach((value, index) => {
    const id = String(index);
    log.append({ type: 'tool_call', id, name: 'any', args: value });
    log.append({ type: 'tool_result', id, value, error: null });
  });
  assert.equal(log.events().length, 2 * values.length);
  assert.equal(log.deriveMessages().length, 2 * values.length);
}
