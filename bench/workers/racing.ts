import { replyDeltas, type Plan, type Subject } from './script.ts';
import { serve } from './serve.ts';
import { turnCases } from './turn-cases.ts';

/**
 * What one writes first to make a stream cancellable: each wait for the next value races a
 * listener of its own. Text alone, without tools.
 */
const subject: Subject = (plan) => () => async (signal) => {
  const seen = { characters: 0, toolResults: 0 };
  await drive(plan, signal, (delta) => {
    seen.characters += delta.length;
  });
  return seen;
};

async function drive(
  plan: Plan,
  signal: AbortSignal,
  tell: (delta: string) => void,
): Promise<string> {
  let text = '';
  const iterator = replyDeltas(plan, (delta) => ({ kind: 'text', text: delta }));
  for (;;) {
    const next = await raceListener(signal, iterator.next());
    if (next.done === true) return text;
    text += next.value.text;
    tell(next.value.text);
  }
}

async function raceListener<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      reject(new Error('aborted'));
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

serve(turnCases('racing', subject));
