import { openSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

import {
  isRecord,
  messageText,
  type Llm,
  type ModelRequest,
  type StreamEvent,
  type ToolRegistry,
} from '@celestea/core';

import { done, FakeToolRegistry, type FakeTool } from '../../src/testing/index.ts';
import { Barrier } from './barrier.ts';
import {
  callResult,
  pieceText,
  readPlan,
  stepCalls,
  stepText,
  STOPPING_STEP,
  type TurnPlan,
} from './plan.ts';

/** How fast a script goes, and who hears of it. */
export interface ScriptOptions {
  /** Between two deltas, in milliseconds. */
  readonly paceMs: number;
  /** What a tool takes, in milliseconds. */
  readonly toolMs: number;
  /** Gets a line for each run of a tool. */
  readonly runsFile: string;
  /** Told of a session whose turn is where the server may die. */
  readonly onStand: (index: number) => void;
}

/** A turn that goes on stands once it has come so far, and goes on. */
const GOING_STEP = 3;

/** Plays the plan that the user's last message is. It remembers nothing of a turn. */
export function pacedModel({ paceMs, onStand }: ScriptOptions): Llm {
  const barriers = new Map<number, Barrier>();
  const start = (plan: TurnPlan): Promise<void> => {
    const barrier = barriers.get(plan.wave) ?? new Barrier(plan.together);
    barriers.set(plan.wave, barrier);
    return barrier.wait();
  };
  async function* play(plan: TurnPlan, step: number): AsyncGenerator<StreamEvent> {
    if (step === 0) await start(plan);
    if (step === GOING_STEP && plan.fate === 'goes on') onStand(plan.index);
    for (let piece = 0; piece < plan.pieces; piece += 1) {
      await pause(paceMs);
      yield { kind: 'text', text: pieceText(plan, step, piece) };
      if (plan.fate !== 'stops in the model' || step !== STOPPING_STEP) continue;
      onStand(plan.index);
      await new Promise(() => undefined);
    }
    yield done(stepText(plan, step), ...stepCalls(plan, step));
  }
  return {
    generate: (request) => {
      const { plan, step } = placeOf(request);
      return Promise.resolve(play(plan, step));
    },
  };
}

/** Which plan is played, and how many of its steps are over. */
function placeOf({ messages }: ModelRequest): { plan: TurnPlan; step: number } {
  const start = messages.findLastIndex(({ role }) => role === 'user');
  const said = messages[start];
  if (said === undefined) throw new Error('nobody said anything');
  const step = messages.slice(start).filter(({ role }) => role === 'assistant').length;
  return { plan: readPlan(messageText(said) ?? ''), step };
}

/** Tools that write a line a run, with one write, before they do anything else. */
export function loggedTools({ toolMs, runsFile, onStand }: ScriptOptions): () => ToolRegistry {
  const runs = openSync(runsFile, 'a');
  const work: FakeTool = async (args, { input }) => {
    const { session, stops } = isRecord(args) ? args : {};
    writeSync(runs, `${String(session)} ${input.call_id}\n`);
    if (stops === true) {
      onStand(Number(session));
      await new Promise(() => undefined);
    }
    await pause(toolMs);
    return callResult(input.call_id);
  };
  return () => new FakeToolRegistry({ work });
}
