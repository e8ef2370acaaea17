import { serdeJsonString, type ToolCall } from '@celestea/core';

/** Something to look up or to do: a call without its id, and what of its result to tell. */
export interface Look {
  readonly kind: 'look';
  readonly name: 'list_dir' | 'read_file' | 'search_text' | 'write_file';
  readonly args: Readonly<Record<string, string | number | boolean>>;
  /** What a file is to be quoted on, all of it when empty; `null` asks how long it is. */
  readonly topics: readonly string[] | null;
}

/** What a part of a question comes to: a call, or words that need none. */
export type Want = Look | { readonly kind: 'say'; readonly text: string };

/** Equal for calls of one tool with equal arguments. */
export const callKey = ({ name, args }: Look | ToolCall): string => serdeJsonString([name, args]);
