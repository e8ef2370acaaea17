import type { Tool, ToolInput, ToolOutput, ToolRegistry } from '../tool.ts';
import type { ContractAssert } from './framework.ts';

/**
 * What a registry may claim, each part for itself: `tools` (names and specs), `dispatch` (running
 * them, and what goes wrong), `reasons` (an error has a text that tells something, also when what
 * was thrown has none), `guards` (that they are asked at all).
 */
export type ToolRegistryPart = 'tools' | 'dispatch' | 'reasons' | 'guards';

export interface Held {
  readonly registry: ToolRegistry;
  readonly assert: ContractAssert;
}

export interface RegistryTest {
  readonly part: ToolRegistryPart;
  readonly title: string;
  readonly run: (held: Held) => unknown;
}

export const call = (name: string, call_id = 'call-1', args: unknown = {}): ToolInput => ({
  call_id,
  name,
  args,
});

export const toolOf = (name: string, execute: Tool['execute']): Tool => ({
  spec: () => ({ name, description: `Does ${name}.`, parameters: { type: 'object' } }),
  execute,
});

export const echo = (name: string): Tool => toolOf(name, (args) => Promise.resolve({ name, args }));

/** A failure is an output with a text, no value, and the id of its call. */
export function assertFailed(assert: ContractAssert, output: ToolOutput, title: string): void {
  assert.equal(output.call_id, 'call-1', title);
  assert.equal(output.value, null, title);
  assert.equal(typeof output.error, 'string', `${title}: ${String(output.error)}`);
}
