import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';

import { assertLogValid } from '@celestea/agent-loop/testing';
import { describe, expect, it } from 'vitest';

import { celestea, Celestea } from './support/child.ts';
import { freshFolder } from './support/folder.ts';
import { hashOf, onlySession, rowsIn, sessionNames } from './support/session.ts';

// How long a process takes to start depends on the machine; these tests wait for what it does.
const PATIENCE = { timeout: 240_000 };
/** So long that the turn still runs whenever its first words are read. */
const FOR_EVER = '--model-delay=2147483647';

describe('a process that is killed in the middle of a turn', PATIENCE, () => {
  it('is resumed: its turn is closed, and the conversation goes on', async () => {
    const folder = freshFolder({ 'README.md': '# Tea\n' });
    const first = new Celestea(folder, [FOR_EVER, 'what does README.md say?']);
    await first.printed('\n\nThe');
    const name = sessionNames(folder).find((one) => one.endsWith('.jsonl')) ?? '';
    const file = `.celestea/sessions/${name}`;
    expect(first.stdout).toContain(` · ${file}\n`);

    const whileOpen = await celestea(folder, ['--resume', 'hello']);
    expect(whileOpen.code).toBe(1);
    expect(whileOpen.stderr).toMatch(
      new RegExp(`^celestea: .* is in use by process ${String(first.child.pid)} [^\n]*\n$`),
    );
    const running = await celestea(folder, ['check', file]);
    expect(running.stdout).toContain('open turn:      turn-0, running\n');
    expect(running.code).toBe(0);

    first.child.kill('SIGKILL');
    await first.ended;
    const path = `${folder}/${file}`;
    const hash = hashOf(path);
    const dead = await celestea(folder, ['check', file]);
    expect(dead.stdout).toContain('open turn:      turn-0; closed when the session goes on\n');
    expect(dead.stdout).toContain('open elsewhere: no\n');
    expect(dead.code).toBe(1);
    expect(hashOf(path)).toBe(hash);

    const second = await celestea(folder, ['--resume', 'how many lines has README.md?']);
    expect(second.stderr).toBe('');
    expect(second.stdout).toContain(
      ` · ${file}\nresumed with 1 message · closed turn-0, which was interrupted\n\n`,
    );
    expect(second.stdout).toContain('`README.md` has 1 line.');
    expect(second.code).toBe(0);
    expect(onlySession(folder)).toBe(path);
    const rows = rowsIn(path);
    assertLogValid(rows);
    expect(rows.filter(({ type }) => type === 'turn_start' || type === 'turn_end')).toEqual([
      { type: 'turn_start', id: 'turn-0' },
      { type: 'turn_end', id: 'turn-0', outcome: 'interrupted' },
      { type: 'turn_start', id: 'turn-1' },
      { type: 'turn_end', id: 'turn-1', outcome: 'completed' },
    ]);

    const shown = await celestea(folder, ['log', file]);
    expect(shown.stdout).toContain('› what does README.md say?\n');
    expect(shown.stdout).toContain('\nturn-0 interrupted\n\nturn-1\n› how many lines');
    expect(shown.stdout).toMatch(/\nturn-1 completed\n$/);
    expect({ code: shown.code, stderr: shown.stderr }).toEqual({ code: 0, stderr: '' });
    expect((await celestea(folder, ['check', file])).code).toBe(0);
  });
});

it('a process that is cancelled closes its session', PATIENCE, async () => {
  const folder = freshFolder({ 'README.md': '# Tea\n' });
  const command = new Celestea(folder, [FOR_EVER, 'what does README.md say?']);
  await command.printed('\n\nThe');
  command.child.kill('SIGINT');
  expect((await command.ended).code).toBe(130);
  const path = onlySession(folder);
  expect(readdirSync(dirname(path))).toHaveLength(1); // no lock is left
  const rows = rowsIn(path);
  assertLogValid(rows);
  expect(rows.at(-1)).toEqual({ type: 'turn_end', id: 'turn-0', outcome: 'cancelled' });
});
