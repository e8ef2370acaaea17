import {
  AgentError,
  type AgentConfig,
  type Message,
  type ModelRequest,
  type SessionLog,
  type ToolRegistry,
  type ToolSpec,
} from '@celestea/core';

import { ignore, raceCancel } from './cancel.ts';
import { fitContext } from './context-fit.ts';
import { untrimmed, type TrimResult } from './context-trim.ts';
import { failureText } from './failure-text.ts';
import type { ContextPolicy, ContextPolicyInput } from './options.ts';
import { requireArray } from './seams.ts';
import { estimateTokens } from './tokens.ts';
import type { Turn } from './turn.ts';

/** What the seams give a request: the whole history, and the tools. */
interface Sources {
  readonly history: Message[];
  readonly tools: ToolSpec[];
}

/** What came of preparing a step's request. */
export type Prepared =
  | { readonly kind: 'ready'; readonly request: ModelRequest }
  /** There is none to send, for the reason given. */
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'cancelled' };

const failed = (error: unknown): Prepared => ({ kind: 'failed', message: failureText(error) });

/** What fits of the history; a request that cannot be made to fit is not sent (X7). */
const fitted = (config: AgentConfig, history: readonly Message[]): TrimResult =>
  config.context_window_tokens > 0
    ? fitContext(
        history,
        estimateTokens(config.system_prompt),
        config.context_window_tokens,
        config.context_trim_threshold,
        config.context_keep_recent,
      )
    : untrimmed([...history]);

/**
 * The next request, out of the log alone (L5.1). Throws what a broken seam throws; what the
 * context policy or `prepareStep` throws is a failed step.
 */
export function prepareRequest(turn: Turn, step: number): Prepared | Promise<Prepared> {
  const { config, seams, options } = turn;
  const sources = readSources(seams.log, seams.tools);
  try {
    turn.callIds.takeThoseOf(sources.history); // before anybody else is handed it
    if (options.contextPolicy ?? options.prepareStep) return hostsRequest(turn, step, sources);
    const request = requestOf(config, sources, fitted(config, sources.history));
    return { kind: 'ready', request };
  } catch (error) {
    return failed(error);
  }
}

/** The request that the host has a say in. */
async function hostsRequest(turn: Turn, step: number, sources: Sources): Promise<Prepared> {
  const { config, cancellation, options } = turn;
  const { contextPolicy, prepareStep } = options;
  const build = async (): Promise<ModelRequest> => {
    const trimmed =
      contextPolicy === undefined
        ? fitted(config, sources.history)
        : await contextPolicy(policyInput(config, sources.history, cancellation.signal));
    const request = requestOf(config, sources, trimmed);
    const info = { step, usage: turn.used };
    return checkedRequest(await prepareStep?.(request, info), request);
  };
  const built = await raceCancel(cancellation, build());
  switch (built.outcome) {
    case 'ok':
      return { kind: 'ready', request: built.value };
    case 'aborted':
      return { kind: 'cancelled' };
    case 'failed':
      return failed(built.error);
    default:
      return built satisfies never;
  }
}

/** The request that would be sent next, at once. Throws when the policy takes its time. */
export function snapshotRequest(
  config: AgentConfig,
  log: SessionLog,
  tools: ToolRegistry,
  policy: ContextPolicy | undefined,
): ModelRequest {
  const sources = readSources(log, tools);
  const { history } = sources;
  const trimmed =
    policy === undefined
      ? fitted(config, history)
      : policy(policyInput(config, history, new AbortController().signal));
  if (isThenable(trimmed)) {
    trimmed.then(ignore, ignore);
    throw new AgentError('contextSnapshot needs a context policy that answers at once, not a promise');
  }
  return requestOf(config, sources, trimmed);
}

/** A promise of any make. */
function isThenable<T>(value: T | PromiseLike<T> | null | undefined): value is PromiseLike<T> {
  return typeof (value as Partial<PromiseLike<T>> | null | undefined)?.then === 'function';
}

function readSources(log: SessionLog, tools: ToolRegistry): Sources {
  return {
    history: requireArray('deriveMessages of the session log', log.deriveMessages()),
    tools: requireArray('schemas of the tool registry', tools.schemas()),
  };
}

function policyInput(
  config: AgentConfig,
  history: readonly Message[],
  signal: AbortSignal,
): ContextPolicyInput {
  const systemTokens = estimateTokens(config.system_prompt);
  return { messages: history, systemTokens, config, signal };
}

function requestOf(config: AgentConfig, { tools }: Sources, trimmed: TrimResult): ModelRequest {
  const messages: unknown = (trimmed as Partial<TrimResult> | null | undefined)?.messages;
  return {
    model: config.model,
    system: config.system_prompt,
    messages: requireArray('messages of the context policy', messages as Message[]),
    tools,
    max_tokens: null,
    temperature: null,
  };
}

/** Checked in either case: it may have been changed in place. */
function checkedRequest(returned: unknown, otherwise: ModelRequest): ModelRequest {
  const request = (returned ?? otherwise) as Partial<ModelRequest>;
  requireArray('messages of the request from prepareStep', request.messages);
  requireArray('tools of the request from prepareStep', request.tools);
  return request as ModelRequest;
}
