import {
  callsOf,
  compute,
  events,
  replyDeltas,
  TOOL_NAMES,
  USER_INPUT,
  type Plan,
  type PlannedCall,
  type Subject,
} from './script.ts';
import { serve } from './serve.ts';
import { turnCases } from './turn-cases.ts';

/**
 * The least that does the work at all: `for await`, a callback for each delta, a joined text,
 * the tools side by side, rows kept, messages built. It checks nothing and cannot be cancelled.
 */
type LimitEvent = { kind: 'text'; text: string } | { kind: 'calls'; calls: PlannedCall[] };

interface LimitMessage {
  role: 'user' | 'assistant' | 'tool';
  content: unknown;
}

const subject: Subject = (plan) => () => async () => {
  const seen = { characters: 0, toolResults: 0 };
  await drive(plan, (row) => {
    if (row.kind === 'text') seen.characters += row.text.length;
    if (row.kind === 'result') seen.toolResults += 1;
  });
  return seen;
};

type Row =
  | { kind: 'text'; text: string }
  | { kind: 'call'; call: PlannedCall }
  | { kind: 'result'; id: string; value: number };

const tools = new Map(
  TOOL_NAMES.map((name): [string, (n: number) => Promise<number>] => [
    name,
    (n) => Promise.resolve(compute(name, n)),
  ]),
);

async function runTool({ name, args }: PlannedCall): Promise<number> {
  const tool = tools.get(name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool(args.n);
}

async function drive(plan: Plan, tell: (row: Row) => void): Promise<void> {
  const rows: Row[] = [];
  const messages: LimitMessage[] = [{ role: 'user', content: USER_INPUT }];
  const record = (row: Row): void => {
    rows.push(row);
    tell(row);
  };
  for (let step = 0; ; step += 1) {
    let text = '';
    const calls: PlannedCall[] = [];
    for await (const event of generate(plan, step, messages.slice())) {
      if (event.kind === 'calls') {
        calls.push(...event.calls);
      } else {
        text += event.text;
        tell(event);
      }
    }
    messages.push({ role: 'assistant', content: calls.length > 0 ? calls : text });
    if (calls.length === 0) {
      rows.push({ kind: 'text', text });
      return;
    }
    for (const call of calls) record({ kind: 'call', call });
    const values = await Promise.all(calls.map(runTool));
    values.forEach((value, index) => {
      record({ kind: 'result', id: calls[index]?.id ?? '', value });
      messages.push({ role: 'tool', content: JSON.stringify(value) });
    });
  }
}

function generate(plan: Plan, step: number, request: LimitMessage[]): AsyncIterable<LimitEvent> {
  if (request.length === 0) throw new Error('nothing to answer');
  if (step < plan.steps) return events([{ kind: 'calls', calls: callsOf(step) }]);
  return replyDeltas<LimitEvent>(plan, (text) => ({ kind: 'text', text }));
}

serve(turnCases('limit', subject));
