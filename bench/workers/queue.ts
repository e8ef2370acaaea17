import { replyDeltas, type Plan, type Subject } from './script.ts';
import { serve } from './serve.ts';
import { turnCases } from './turn-cases.ts';

/**
 * The least that lets a reader pull what a driver pushes: the bare loop on one side, a promise a
 * delta between, `for await` on the other. Text alone, without tools, and it cannot be cancelled.
 */
const subject: Subject = (plan) => () => async () => {
  const seen = { characters: 0, toolResults: 0 };
  for await (const delta of pulled(plan)) seen.characters += delta.length;
  return seen;
};

type Result = IteratorResult<string, undefined>;

function pulled(plan: Plan): AsyncIterable<string> {
  const ready: Result[] = [];
  let waiting: ((result: Result) => void) | null = null;
  const wait = (resolve: (result: Result) => void): void => {
    waiting = resolve;
  };
  const put = (result: Result): void => {
    const resolve = waiting;
    waiting = null;
    if (resolve === null) ready.push(result);
    else resolve(result);
  };
  void drive(plan, (value) => {
    put({ done: false, value });
  }).then(() => {
    put({ done: true, value: undefined });
  });
  const next = (): Promise<Result> => {
    const result = ready.shift();
    return result === undefined ? new Promise(wait) : Promise.resolve(result);
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

async function drive(plan: Plan, tell: (delta: string) => void): Promise<string> {
  let text = '';
  for await (const event of replyDeltas(plan, (delta) => ({ kind: 'text', text: delta }))) {
    text += event.text;
    tell(event.text);
  }
  return text;
}

serve(turnCases('queue', subject));
