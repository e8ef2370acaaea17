import { zeroUsage, type LoopEvent, type TurnOutcome } from '@celestea/core';
import { describe, expect, it } from 'vitest';

import { TurnRenderer } from '../src/render.ts';
import { createStyle } from '../src/style.ts';
import type { TurnTotals } from '../src/turn-meter.ts';

const TOTALS: TurnTotals = {
  steps: 2,
  usage: { ...zeroUsage(), prompt_tokens: 12, completion_tokens: 3 },
  milliseconds: 1234,
};

interface Given {
  colours?: boolean;
  header?: boolean;
  times?: Record<string, number>;
  totals?: Partial<TurnTotals>;
}

function shown(events: readonly LoopEvent[], given: Given = {}): string {
  let text = '';
  const renderer = new TurnRenderer({
    write: (piece) => {
      text += piece;
    },
    style: createStyle(given.colours ?? false),
    figures: {
      totals: () => ({ ...TOTALS, ...given.totals }),
      callMilliseconds: (id) => given.times?.[id] ?? null,
    },
  });
  if (given.header === true) renderer.header('a model', '/a/folder');
  for (const event of events) renderer.render(event);
  return text;
}

const think = (delta: string): LoopEvent => ({ kind: 'thinking', delta });
const text = (delta: string): LoopEvent => ({ kind: 'text', delta });
const done = (reply: string): LoopEvent => ({ kind: 'done', text: reply, tool_calls: [] });
const end = (outcome: TurnOutcome): LoopEvent => ({ kind: 'turn_end', outcome });
const call = (id: string, name = 'tool', args: unknown = {}): LoopEvent => ({
  kind: 'tool_call', id, name, args,
});
const result = (
  callId: string,
  given: Partial<Extract<LoopEvent, { kind: 'tool_result' }>> = {},
): LoopEvent => ({
  kind: 'tool_result', callId, ok: (given.error ?? null) === null,
  value: null, render: null, error: null, decision: null, ...given,
});

const TURN = [
  think('Let me '),
  think('look.'),
  call('a', 'read_file', { path: 'a.md' }),
  call('b', 'read_file', { path: 'b.md' }),
  result('a', { value: 'x'.repeat(1200), render: 'a.md, lines 1 to 2' }),
  result('b', { error: 'it does not exist' }),
  think('I know enough.'),
  text('The '),
  text('answer.'),
  done('The answer.'),
  end('completed'),
];

describe('a turn', () => {
  it('without colours holds no control code', () => {
    expect(shown(TURN, { header: true, times: { a: 12, b: 3400 } })).toBe(
      [
        'a model · /a/folder',
        '',
        'Let me look.',
        '→ #1 read_file {"path":"a.md"}',
        '→ #2 read_file {"path":"b.md"}',
        '✓ #1 read_file a.md, lines 1 to 2 · 1.2 kB · 12 ms',
        '✗ #2 read_file failed after 3.4 s: it does not exist',
        'I know enough.',
        '',
        'The answer.',
        '',
        'completed · 2 steps · tokens 12 prompt, 3 completion · 1.2 s',
        '',
      ].join('\n'),
    );
  });

  it('with colours says the same, and leaves no look switched on at the end of a piece', () => {
    const given = { header: true, times: { a: 12, b: 3400 } };
    const coloured = shown(TURN, { ...given, colours: true });
    // eslint-disable-next-line no-control-regex -- the codes are what it is about
    expect(coloured.replace(/\x1b\[\d+m/g, '')).toBe(shown(TURN, given));
    expect(coloured).toContain('\x1b[2mLet me \x1b[22m\x1b[2mlook.\x1b[22m');
    expect(coloured).toContain('\x1b[31mfailed after 3.4 s\x1b[39m');
    expect(coloured).toContain('\n\nThe answer.\n\n');
  });
});

describe('the closing line', () => {
  it.each<[string, TurnOutcome, string]>([
    ['completed', 'completed', 'completed'],
    ['cancelled', 'cancelled', 'cancelled'],
    ['step_limit', 'step_limit', 'stopped at the step limit'],
    ['interrupted', 'interrupted', 'interrupted: the model broke off'],
    ['error', { error: { kind: 'stream', message: 'no\nluck' } }, 'error (stream: no\\nluck)'],
  ])('%s', (_, outcome, label) => {
    const figures = ' · 2 steps · tokens 12 prompt, 3 completion · 1.2 s\n';
    expect(shown([end(outcome)])).toBe(label + figures);
    // eslint-disable-next-line no-control-regex -- the codes are what it is about
    const plain = shown([end(outcome)], { colours: true }).replace(/\x1b\[\d+m/g, '');
    expect(plain).toBe(label + figures);
  });

  it('says when nobody counted tokens', () => {
    expect(shown([end('cancelled')], { totals: { usage: zeroUsage(), steps: 1 } })).toBe(
      'cancelled · 1 step · no tokens reported · 1.2 s\n',
    );
  });

  it('comes on a line of its own when a word was cut off', () => {
    expect(shown([text('half a'), end('cancelled')])).toMatch(/^half a\n\ncancelled · /);
    expect(shown([text('a line\n'), end('cancelled')])).toMatch(/^a line\n\ncancelled · /);
  });
});

describe('what is said beside the turn', () => {
  const rendererInto = (written: string[]): TurnRenderer =>
    new TurnRenderer({
      write: (piece) => written.push(piece),
      style: createStyle(true),
      figures: { totals: () => TOTALS, callMilliseconds: () => null },
    });

  it('is dim, on a line of its own, and cannot steer the terminal', () => {
    const written: string[] = [];
    const renderer = rendererInto(written);
    renderer.render(text('half a'));
    renderer.note('steering: a\x1b[2Jb\nc');
    expect(written.join('')).toBe('half a\n\n\x1b[2msteering: a\\x1b[2Jb\\nc\x1b[22m\n');
  });

  it('makes room for another writer, once', () => {
    const written: string[] = [];
    const renderer = rendererInto(written);
    renderer.freshLine();
    renderer.render(text('half a'));
    renderer.freshLine();
    renderer.freshLine();
    expect(written).toEqual(['half a', '\n']);
  });

  it('tells in the last line why the turn was cancelled', () => {
    const written: string[] = [];
    const renderer = rendererInto(written);
    renderer.explainCancel('it took\ntoo long');
    renderer.render(end('cancelled'));
    expect(written.join('')).toContain('cancelled\x1b[39m: it took\\ntoo long\x1b[2m · 2 steps');
  });
});

describe('text', () => {
  it('is shown from done when the model did not stream it, and never twice', () => {
    expect(shown([done('All at once.')])).toBe('All at once.');
    expect(shown([text('Streamed.'), done('Streamed.')])).toBe('Streamed.');
    expect(shown([text('One.'), done('One.'), call('a'), done('Two.')])).toMatch(/One[^]*Two\.$/);
    expect(shown([text(''), think(''), done('')])).toBe('');
  });

  it('keeps a character whole that came in two halves', () => {
    const [high = '', low = ''] = '😀'.split('');
    expect(shown([text(`a${high}`), text(`${low}b`)])).toBe('a😀b');
    expect(shown([text(high), text(low)])).toBe('😀');
    expect(shown([think(high), text('b')])).toBe('\nb');
  });
});

describe('calls', () => {
  it('with one id are told apart by their order', () => {
    const events = [call('x', 'first'), call('x', 'second'), result('x'), result('x')];
    expect(shown(events)).toBe(
      '→ #1 first {}\n→ #2 second {}\n✓ #1 first 4 B\n✓ #2 second 4 B\n',
    );
  });

  it('that never ran say so', () => {
    expect(shown([call('a'), result('a', { error: 'cancelled before execution' })])).toBe(
      '→ #1 tool {}\n✗ #1 tool not run: cancelled before execution\n',
    );
  });

  it('that were running when the turn was cancelled say so, and what they were', () => {
    const gone = { error: 'cancelled before execution', abandoned: true } as const;
    const events = [call('a', 'send', { to: 'ada' }), call('b'), result('a', gone), result('b')];
    expect(shown([...events, result('stray', gone)], { times: { a: 1200 } })).toBe(
      [
        '→ #1 send {"to":"ada"}',
        '→ #2 tool {}',
        '! #1 send {"to":"ada"} abandoned after 1.2 s: it had started; its outcome is not known',
        '✓ #2 tool 4 B',
        '! #? abandoned: it had started; its outcome is not known',
        '',
      ].join('\n'),
    );
    const long = { long: 'y'.repeat(1000) };
    expect(shown([call('a', 'n', long), result('a', gone)]).length).toBeLessThan(500);
  });

  it('are shown bounded, on one line each', () => {
    const long = 'y'.repeat(100_000);
    const events = [
      call('a', `n${long}`, { long, more: '\n' }),
      result('a', { value: long, render: `r${long}` }),
      call('b'),
      result('b', { error: `line\n${long}` }),
      end({ error: { kind: 'generate', message: long } }),
    ];
    const lines = shown(events).split('\n');
    expect(lines).toHaveLength(7); // four calls and results, a blank one, the last, its end
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(600);
    expect(lines[0]).toMatch(/^→ #1 ny+… \{"long":"y+…$/);
    expect(lines[1]).toMatch(/^✓ #1 ny+… ry+… · 100 kB$/);
    expect(lines[3]).toMatch(/^✗ #2 tool not run: line\\ny+…$/);
  });

  it('count the size in bytes of what the model sees', () => {
    expect(shown([call('a'), result('a', { value: 'ž' })])).toContain('✓ #1 tool 4 B');
    expect(shown([call('a'), result('a', { value: { b: 1n, a: [undefined] } })])).toContain('18 B');
  });

  it('show a result that nobody asked for', () => {
    expect(shown([result('stray', { value: 1 })])).toBe('✓ #? 1 B\n');
  });
});

describe('what a model or a tool says', () => {
  const evil = 'a\x1b[2J\x1b]52;c;cm0=\x07\x9b31m\r\b\x7f\u202Ez';
  const events = [
    think(evil),
    text(evil),
    done(evil),
    done(evil),
    call(evil, evil, { [evil]: evil }),
    result(evil, { value: evil, render: evil }),
    call('b'),
    result('b', { error: evil }),
    end({ error: { kind: 'generate', message: evil } }),
  ];

  it.each([
    ['without colours', false],
    ['with colours, of which only our own are there', true],
  ])('never reaches the terminal raw: %s', (_, colours) => {
    // eslint-disable-next-line no-control-regex -- the codes are what it is about
    const output = shown(events, { colours }).replace(/\x1b\[(?:1|2|22|3[1-6]|39)m/g, '');
    // eslint-disable-next-line no-control-regex -- the codes are what it is about
    expect(output).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
    expect(output.match(/\\x1b\[2J/g)?.length).toBeGreaterThanOrEqual(8);
  });

  it('holds for the model and the folder in the first line as well', () => {
    let line = '';
    const renderer = new TurnRenderer({
      write: (piece) => {
        line += piece;
      },
      style: createStyle(false),
      figures: { totals: () => TOTALS, callMilliseconds: () => null },
    });
    renderer.header('m\x1bm', '/a\nb');
    expect(line).toBe('m\\x1bm · /a\\nb\n');
  });
});
