import { callTools, HangingLlm, say, ScriptedLlm, think } from '@celestea/agent-loop/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { runCli } from '../src/index.ts';
import { freshFolder } from './support/folder.ts';
import { fakeIo, FakeOutput, type FakeIo } from './support/io.ts';

const QUESTION = 'hello';

function start(options: readonly string[], llm: HangingLlm | ScriptedLlm, given: object = {}) {
  const io: FakeIo = fakeIo({ cwd: freshFolder({ 'a.md': 'x\n' }), ...given });
  // Kept nowhere: a disk takes a time of its own, which no test can move.
  const argv = ['--no-session', ...options, QUESTION];
  const exit = runCli(argv, io, { model: { name: 'scripted', llm } });
  return { io, exit };
}

/** Timers that move when they are told; what stands still is left to the loop itself. */
function fakeTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

interface Frame {
  event: string;
  payload: Record<string, unknown>;
}

const framesOf = (io: FakeIo): Frame[] =>
  io.stdout.text.trimEnd().split('\n').map((line) => JSON.parse(line) as Frame);

describe('--timeout', () => {
  it('cancels the turn and says why', async () => {
    fakeTime();
    const { io, exit } = start(['--timeout', '90'], new HangingLlm([think('Hm.')]));
    await vi.advanceTimersByTimeAsync(89_999);
    expect(io.stdout.text).not.toContain('cancelled');
    await vi.advanceTimersByTimeAsync(1);
    expect(await exit).toBe(130);
    expect(io.stdout.text).toContain(
      '\ncancelled: it took longer than --timeout, 1 min 30 s · 1 step · ',
    );
  });

  it('says so in a frame with --json', async () => {
    fakeTime();
    const { io, exit } = start(['--json', '--timeout=0.5'], new HangingLlm([think('Hm.')]));
    await vi.advanceTimersByTimeAsync(500);
    expect(await exit).toBe(130);
    expect(framesOf(io).slice(-2)).toMatchObject([
      {
        event: 'status',
        payload: { phase: 'timeout', message: 'it took longer than --timeout, 500 ms' },
      },
      { event: 'turn_end', payload: { outcome: 'cancelled', error: null } },
    ]);
  });

  it('leaves no timer behind a turn that was faster', async () => {
    fakeTime();
    const { io, exit } = start(['--timeout=90'], new ScriptedLlm([say('Hi.')]));
    await vi.advanceTimersByTimeAsync(10);
    expect(await exit).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    expect(io.stdout.text).toContain('completed');
  });
});

it('--idle-timeout ends a turn whose model is silent', async () => {
  fakeTime();
  const { io, exit } = start(['--idle-timeout', '2'], new HangingLlm([think('Hm.')]));
  await vi.advanceTimersByTimeAsync(4000);
  expect(await exit).toBe(1);
  expect(io.stdout.text).toMatch(/\nerror \(stream: .*2000 ms.*\) · 1 step/);
});

it('--tool-timeout gives up on a call, and the turn goes on', async () => {
  fakeTime();
  const llm = new ScriptedLlm([
    callTools({ id: 'a', name: 'list_dir', args: {} }),
    say('Done.'),
  ]);
  // The clock is read as a call starts: from then on it has taken too long.
  const now = (): number => {
    vi.advanceTimersByTime(3000);
    return performance.now();
  };
  const { io, exit } = start(['--tool-timeout=3'], llm, { now });
  expect(await exit).toBe(0);
  expect(io.stdout.text).toMatch(/✗ #1 list_dir failed after .*: timed out: .* 3000 ms/);
});

it('--max-steps is the number of requests', async () => {
  const llm = new ScriptedLlm([callTools({ id: 'a', name: 'list_dir', args: {} }), say('No.')]);
  const { io, exit } = start(['--max-steps=1'], llm);
  expect(await exit).toBe(1);
  expect(io.stdout.text).toContain('\nstopped at the step limit · 1 step');
});

it('--window is what a request has to fit in', async () => {
  const { io, exit } = start(['--window', '10'], new ScriptedLlm([say('No.')]));
  expect(await exit).toBe(1);
  expect(io.stdout.text).toContain('error (generate: context budget exceeded: ');
});

describe('diagnostics', () => {
  const late = (): ScriptedLlm =>
    new ScriptedLlm([[...say('Done.'), { kind: 'text', text: ' Late.' }]]);

  it('are a line each on stderr', async () => {
    const { io, exit } = start([], late());
    expect(await exit).toBe(0);
    expect(io.stderr.text).toMatch(/^diagnostic event_after_done: .*\n$/);
    expect(io.stdout.text).not.toContain('diagnostic');
  });

  it('are dim there on a terminal, and break no line of a turn on the same one', async () => {
    let screen = '';
    const output = (): FakeOutput => new FakeOutput(true, (text) => (screen += text));
    const { exit } = start([], late(), { stdout: output(), stderr: output() });
    expect(await exit).toBe(0);
    expect(screen).toContain('Done.\n\x1b[2mdiagnostic event_after_done: ');
  });

  it('are frames with --json, and nothing on stderr', async () => {
    const { io, exit } = start(['--json'], late());
    expect(await exit).toBe(0);
    expect(io.stderr.text).toBe('');
    const status = framesOf(io).filter(({ event }) => event === 'status');
    expect(status).toMatchObject([
      { payload: { phase: 'diagnostic', kind: 'event_after_done' } },
    ]);
  });

  it('are not told to people where they are of no use to them', async () => {
    const unnamed = [callTools({ id: '', name: 'list_dir', args: {} }), say('Done.')];
    const { io, exit } = start([], new ScriptedLlm(unnamed));
    expect(await exit).toBe(0);
    expect(io.stderr.text).toBe('');
    const frames = start(['--json'], new ScriptedLlm(unnamed));
    expect(await frames.exit).toBe(0);
    expect(frames.io.stdout.text).toContain('call_id_replaced');
  });
});
