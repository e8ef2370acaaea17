import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

import { callTools, FakeToolRegistry, Gate, say } from '@celestea/agent-loop/testing';
import { JsonlSessionLog, sessionLogHolder } from '@celestea/session';
import { expect, test, vi } from 'vitest';

import { errorOf, withHost } from './http-support.ts';
import { fileText, turnRows } from './sessions-support.ts';

const call = { id: 'call-1', name: 'work', args: {} };

test('a damaged session is refused with what to do, and no path', async () => {
  const onFault = vi.fn();
  await withHost({ onFault }, async (host) => {
    const id = await host.session();
    const rows = fileText(turnRows(0, 'hi', 'Hello.'));
    writeFileSync(join(host.folder, `${id}.jsonl`), `${rows}no row\n`);
    const path = `/api/sessions/${id}`;
    const start = await host.post(`${path}/turns`, { input: 'hello' });
    for (const reply of [start, await host.get(`${path}/context`)]) {
      expect([reply.status, errorOf(reply)['code']]).toEqual([409, 'damaged']);
      const message = String(errorOf(reply)['message']);
      expect(message).toContain(`session ${id} is damaged in line 5`);
      expect(message).toContain('celestea check');
      expect(message).toContain('fork');
      expect(message).not.toContain(host.folder);
    }
    expect((await host.get(`${path}/messages`)).status).toBe(200);
    const fork = await host.post(`${path}/fork`, { turn: 'turn-0' });
    const { id: forked } = fork.body['session'] as { id: string };
    expect((await host.get(`/api/sessions/${forked}/context`)).status).toBe(200);
    expect(onFault).not.toHaveBeenCalled();
  });
});

test('a session that is damaged while it is open is refused likewise', async () => {
  await withHost({ scripts: [say('Hi.')] }, async (host) => {
    const id = await host.session();
    await host.wholeTurn(id);
    expect((await host.get(`/api/sessions/${id}/context`)).status).toBe(200);
    const file = await open(join(host.folder, `${id}.jsonl`), 'r+');
    await file.write('#', 0);
    await file.close();
    for (const path of [`/api/sessions/${id}`, `/api/sessions/${id}/messages`]) {
      const reply = await host.get(path);
      expect([reply.status, errorOf(reply)['code']]).toEqual([409, 'damaged']);
    }
  });
});

test('what a turn did not take is told until the next one starts', async () => {
  const [gate, late] = [new Gate(), new Gate()];
  const scripts = [callTools(call), [() => late.wait(), ...say('Hi.')]];
  const tools = (): FakeToolRegistry => new FakeToolRegistry({ work: () => gate.wait() });
  await withHost({ scripts, tools }, async (host) => {
    const id = await host.session();
    const path = `/api/sessions/${id}`;
    const undelivered = async (): Promise<unknown> =>
      (await host.get(path)).body['undelivered'];
    expect(await undelivered()).toEqual([]);
    const reader = await host.events(id);
    const turn = await host.turn(id);
    await reader.until(({ name }) => name === 'tool');
    await host.post(`${path}/steer`, { input: 'too late' });
    expect(await undelivered()).toEqual([]);
    await host.post(`${path}/cancel`);
    await reader.untilEnd(turn);
    expect(await undelivered()).toEqual(['too late']);
    gate.open();
    const next = await host.turn(id);
    expect(await undelivered()).toEqual([]);
    late.open();
    await reader.untilEnd(next);
    await reader.close();
    expect(await undelivered()).toEqual([]);
  });
});

test('a session that somebody else has open is told of as such', async () => {
  await withHost({ scripts: [say('Hi.')] }, async (host) => {
    const id = await host.session();
    const isHeld = async (): Promise<unknown> =>
      (await host.get(`/api/sessions/${id}`)).body['held_elsewhere'];
    expect(await isHeld()).toBe(false);
    const log = await JsonlSessionLog.open(join(host.folder, `${id}.jsonl`));
    for (const row of turnRows(0, 'hi', 'Hello.').slice(0, 2)) log.append(row);
    expect(await isHeld()).toBe(true);
    expect((await host.post(`/api/sessions/${id}/turns`, { input: 'a' })).status).toBe(409);
    await log.close();
    expect(await isHeld()).toBe(false);
    await host.wholeTurn(id);
    expect(sessionLogHolder(join(host.folder, `${id}.jsonl`)).held).toBe(true);
    expect(await isHeld()).toBe(false);
  });
});
