import {
  hasToolCalls,
  messageTexts,
  toolCallIds,
  type Message,
  type ModelRequest,
} from '@celestea/core';

/**
 * Throws when strict providers would refuse a request: it starts with a user's message (after
 * system ones), every call is answered once and at once, in the order of the calls, no id is
 * used twice, no assistant message is empty, and every text is well-formed Unicode.
 */
export function assertRequestValid(request: ModelRequest): void {
  const { messages } = request;
  const fail = (index: number, what: string): never => {
    const shown = JSON.stringify(messages.map(({ role, content }) => ({ role, content })));
    throw new Error(`message ${String(index)}: ${what} in ${shown}`);
  };
  const talk = messages.filter((message) => message.role !== 'system');
  if (talk[0]?.role !== 'user') fail(0, 'the conversation does not start with a user');
  const ids = new Set<string>();
  let due: string[] = [];
  messages.forEach((message, index) => {
    const fault = messageFault(message, ids, due);
    if (fault !== null) fail(index, fault);
    due = message.role === 'tool' ? due.slice(1) : toolCallIds(message);
  });
  if (due.length > 0) fail(messages.length, `no answer for ${due.join(', ')}`);
  if (!wellFormed(JSON.stringify(request))) fail(0, 'a lone surrogate');
}

function messageFault(message: Message, ids: Set<string>, due: readonly string[]): string | null {
  if (message.role === 'tool') {
    if (message.tool_call_id === due[0] && due.length > 0) return null;
    return `${String(message.tool_call_id)} came where ${due[0] ?? 'no answer'} is due`;
  }
  if (due.length > 0) return `no answer for ${due.join(', ')}`;
  if (message.tool_call_id !== null) return `a ${message.role} message with a call id`;
  if (message.role !== 'assistant') return hasToolCalls(message) ? 'calls of no assistant' : null;
  const empty = messageTexts(message).join('') === '' && !hasToolCalls(message);
  if (empty) return 'an empty assistant message';
  for (const id of toolCallIds(message)) {
    if (id === '' || ids.has(id)) return `the call id ${JSON.stringify(id)} cannot tell it apart`;
    ids.add(id);
  }
  return null;
}

/** JSON writes a lone surrogate as an escape of its own. */
/** An escape, not a text that spells one out. */
const wellFormed = (json: string): boolean =>
  !/(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/i.test(json);
