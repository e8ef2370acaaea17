/**
 * Writes the logs of this version to `test/corpus/<version>/`, with what they are read as: real
 * turns on a real disk. Run once for each release (`pnpm corpus`); what stands there is never
 * written again, since logs that are out in the world stay as they are.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { DefaultAgentLoop, defaultAgentConfig } from '@celestea/agent-loop';
import {
  callTools,
  done,
  failingLlm,
  say,
  ScriptedLlm,
  testContext,
  think,
  thinkSigned,
  type Script,
} from '@celestea/agent-loop/testing';
import type { ImageRef, Llm, Message, ToolCall } from '@celestea/core';
import { JsonlSessionLog } from '@celestea/session';
import { defineTool, DefaultToolRegistry } from '@celestea/tools';

import manifest from '../package.json' with { type: 'json' };

const folder = join(import.meta.dirname, '../test/corpus', manifest.version);

/** Turns of one log, and what happens to its file afterwards. */
interface Case {
  readonly run: (log: JsonlSessionLog) => Promise<void>;
  readonly damage?: (text: string) => string;
}

const picture: ImageRef = {
  attachment_id: '0f343b0931126a20f133d67c2b018a3b'.repeat(2),
  media_type: 'image/png',
  width: 640,
  height: 480,
};
const scaled: ImageRef = {
  ...picture,
  name: 'größe.png',
  original: { width: 6400, height: 4800, bytes: 12_345_678, media_type: 'image/png' },
};

const call = (id: string, name: string, args: unknown): ToolCall => ({ id, name, args });

/** Tools whose answers are all that an answer can be. */
function tools(abort: AbortController): DefaultToolRegistry {
  const parameters = { type: 'object' } as const;
  const registry = new DefaultToolRegistry();
  const add = (name: string, execute: () => unknown): void => {
    registry.register(defineTool({ name, description: name, parameters, execute }));
  };
  add('value', () => ({ list: [1, 2.5, -0, 1e21, null, true], nested: { 'a b': 'ü 漢 😀' } }));
  add('nothing', () => undefined);
  add('text', () => 'line one\nline two\u2028line three\u0000end');
  add('fails', () => {
    throw new Error('no such thing');
  });
  add('hangs', () => {
    abort.abort();
    return new Promise(() => undefined); // ignores its signal
  });
  return registry;
}

async function turn(
  log: JsonlSessionLog,
  input: string | null,
  llm: Llm | readonly Script[],
  { max_steps = 8, attachments = [] as readonly ImageRef[] } = {},
): Promise<void> {
  const abort = new AbortController();
  const model = 'generate' in llm ? llm : new ScriptedLlm(llm);
  const loop = new DefaultAgentLoop(defaultAgentConfig({ max_steps }));
  const context = testContext({ llm: model, log, tools: tools(abort) });
  await loop.runTurnOutcome(context, input, { signal: abort.signal, attachments });
}

const cases: Readonly<Record<string, Case>> = {
  words: {
    run: async (log) => {
      await turn(log, 'Hello, grüezi, 你好 😀', [say('Hello.')]);
      await turn(log, 'a lone surrogate: \ud83d; separators: \u2028\u2029', [say('Seen.\r\n')]);
      await turn(log, null, [say('No input, still words.')]);
    },
  },
  tools: {
    run: async (log) => {
      await turn(log, 'everything at once', [
        [
          think('first I look'),
          thinkSigned('then I sign', { signature: 'c2lnbmVk', provider: 'example' }),
          { kind: 'text', text: 'Looking.' },
          done(
            'Looking.',
            call('call-1', 'value', { path: 'a', deep: [{ b: [1, 2, { c: null }] }] }),
            call('call-2', 'text', {}),
            call('call-3', 'fails', { n: 1 }),
            call('call-4', 'unknown', {}),
            call('call-5', 'nothing', 'not an object'),
          ),
        ],
        say('Done.'),
      ]);
      await turn(log, 'the same ids again', [callTools(call('call-1', 'value', {})), say('Again.')]);
    },
  },
  pictures: {
    run: async (log) => {
      await turn(log, 'what is this?', [say('A picture.')], { attachments: [picture, scaled] });
    },
  },
  outcomes: {
    run: async (log) => {
      await turn(log, 'too long', [callTools(call('a', 'value', {}))], { max_steps: 1 });
      await turn(log, 'refused', failingLlm(new Error('no credit left')));
      await turn(log, 'torn', [[{ kind: 'text', text: 'half a sent' }]]);
      await turn(log, 'hangs', [callTools(call('b', 'hangs', {}), call('c', 'value', {}))]);
      await turn(log, 'goes on', [say('After all of that.')]);
    },
  },
  died: {
    run: (log) => turn(log, 'died in a tool', [callTools(call('a', 'value', {})), say('never')]),
    damage: (text) => text.slice(0, text.indexOf('{"type":"tool_result"')),
  },
  torn: {
    run: async (log) => {
      await turn(log, 'written', [say('in full')]);
      await turn(log, 'torn in its last row', [say('almost all of it')]);
    },
    damage: (text) => text.slice(0, -9),
  },
};

if (existsSync(folder)) {
  throw new Error(`test/corpus/${manifest.version} stands already, and is to stay as it is`);
}
mkdirSync(folder, { recursive: true });
for (const [name, { run, damage }] of Object.entries(cases)) {
  const path = join(folder, `${name}.jsonl`);
  const log = await JsonlSessionLog.open(path);
  await run(log);
  await log.close();
  if (damage !== undefined) writeFileSync(path, damage(readFileSync(path, 'utf8')));
  const reader = await JsonlSessionLog.open(path, { readOnly: true });
  const messages = reader.deriveMessages();
  const read = { report: reader.report, messages, recovered: await recovered(path) };
  await reader.close();
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(read, null, 2)}\n`);
  console.log(`${name}: ${String(read.report.rows)} rows`);
}

/** The messages once the log was opened for writing, which ends what had been running. */
async function recovered(path: string): Promise<Message[]> {
  const copy = `${path}.copy`;
  copyFileSync(path, copy);
  const log = await JsonlSessionLog.open(copy);
  await log.close();
  rmSync(copy);
  return log.deriveMessages();
}
