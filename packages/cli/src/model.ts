import { errorMessage, type TurnTimeouts } from '@celestea/agent-loop';
import { defaultAgentConfig, type AgentConfig, type AttachmentStore, type Llm } from '@celestea/core';
import {
  llmFromEnv,
  LlmSetupError,
  type FallbackNotice,
  type LlmFromEnvOptions,
  type NamedLlm,
  type RetryNotice,
} from '@celestea/llm';
import { OfflineLlm } from '@celestea/offline';

import { EXIT, failed, Refusal } from './exit.ts';
import type { CliIo, CliParts } from './io.ts';
import type { Options } from './options.ts';
import { formatDuration, safeLine } from './text.ts';
import type { TurnNote } from './turn-view.ts';

/** A model that is ready to be asked, and how its turns are run. */
export interface OpenedModel {
  readonly name: string;
  readonly llm: Llm;
  readonly config: AgentConfig;
  readonly timeouts: TurnTimeouts;
  /** Whether it is sent pictures, and `--no-images` would keep them from it. */
  readonly sendsPictures: boolean;
}

/** What a model is opened with. */
export interface ModelPlaces {
  readonly env: CliIo['env'];
  /** Gives up on a server that is asked which models it has. */
  readonly signal: AbortSignal;
  /** Where the pictures of the session are. */
  readonly attachments: Pick<AttachmentStore, 'read'>;
  /** Told of what happens beside the replies. */
  readonly notices: ModelNotices;
}

/**
 * The model that the host, the command line or the environment names, else the offline one.
 * Rejects with a {@link Refusal} that says why there is none.
 */
export async function openModel(
  options: Options,
  { model, findModel = llmFromEnv }: CliParts,
  places: ModelPlaces,
): Promise<OpenedModel> {
  const { timeout, modelDelay } = options;
  if (model !== undefined) return opened(model, options, false);
  const offline = { name: 'offline model', llm: new OfflineLlm({ delayMs: modelDelay }) };
  if (options.offline) return opened(offline, options, false);
  const late = new AbortController();
  const expire = (): void => {
    late.abort();
  };
  const timer = timeout === null ? undefined : setTimeout(expire, timeout);
  const signal = timeout === null ? places.signal : AbortSignal.any([places.signal, late.signal]);
  try {
    const found = await findModel(searchOf(options, { ...places, signal }));
    return opened(found ?? offline, options, found !== null);
  } catch (error) {
    if (!signal.aborted) throw failed(problemOf(error));
    const limit = `it took longer than --timeout, ${formatDuration(timeout ?? 0)}`;
    const why = places.signal.aborted ? '' : `: ${limit}`;
    throw new Refusal(EXIT.cancelled, `cancelled while the model was set up${why}`);
  } finally {
    clearTimeout(timer);
  }
}

/** A real model gives up on a silent reply by itself, to ask again or to ask another one. */
function opened({ name, llm }: NamedLlm, options: Options, isReal: boolean): OpenedModel {
  const usual = defaultAgentConfig({ model: name });
  return {
    name,
    llm,
    config: {
      ...usual,
      max_steps: options.maxSteps ?? usual.max_steps,
      context_window_tokens: options.window ?? usual.context_window_tokens,
    },
    timeouts: {
      streamIdleMs: isReal ? 0 : (options.idleTimeout ?? 0),
      toolMs: options.toolTimeout ?? 0,
    },
    sendsPictures: isReal && !options.noImages,
  };
}

function searchOf(
  { model, baseUrl, noImages, idleTimeout }: Options,
  { env, signal, attachments, notices }: ModelPlaces,
): LlmFromEnvOptions {
  const silence = idleTimeout ?? 0;
  return {
    env,
    signal,
    models: model,
    ...(baseUrl === null ? {} : { baseURL: baseUrl }),
    attachments,
    ...(noImages ? { pictures: false } : {}),
    timeouts: { responseMs: silence, idleMs: silence },
    onRetry: (notice) => {
      notices.tell({ kind: 'retry', ...notice });
    },
    onFallback: (notice) => {
      notices.tell({ kind: 'fallback', ...notice });
    },
    onAnswer: (name) => {
      notices.tell({ kind: 'answer', name });
    },
  };
}

/** The command that installs what is missing is part of it, whoever wrote the message. */
function problemOf(error: unknown): string {
  const message = errorMessage(error);
  const install = error instanceof LlmSetupError ? error.install : null;
  return install === null || message.includes(install) ? message : `${message}: ${install}`;
}

/** What is told of a model beside its replies. */
export type ModelNotice =
  /** The same request is about to be made again. */
  | ({ readonly kind: 'retry'; readonly name: string } & RetryNotice)
  /** Another model is about to be asked. */
  | ({ readonly kind: 'fallback' } & FallbackNotice)
  /** Another one answers than before; at the start of a turn, than the first. */
  | { readonly kind: 'answer'; readonly name: string };

/** Hands what a model tells to the turn that runs; between turns nobody is told. */
export class ModelNotices {
  #listener: ((note: TurnNote) => void) | null = null;
  /** Who answered last. */
  #answering = '';

  /** A turn begins, or with `null` none runs. `first` is the model that is asked first. */
  listen(listener: ((note: TurnNote) => void) | null, first: string): void {
    this.#listener = listener;
    this.#answering = first;
  }

  tell(notice: ModelNotice): void {
    if (notice.kind === 'answer') {
      if (notice.name === this.#answering) return;
      this.#answering = notice.name;
    }
    this.#listener?.(noticeNote(notice));
  }
}

/** A notice as it is told; what the provider said stands at the end of the line. */
function noticeNote(notice: ModelNotice): TurnNote {
  const phase = notice.kind;
  switch (notice.kind) {
    case 'retry': {
      const { name, attempt, attempts, delayMs } = notice;
      const message = errorMessage(notice.error);
      const wait = delayMs === 0 ? 'now' : `in ${formatDuration(delayMs).replace('.0 s', ' s')}`;
      const count = `${String(attempt)} of ${String(attempts)}`;
      return {
        phase,
        fields: { model: name, attempt, attempts, delay_ms: delayMs, message },
        line: `retrying ${shown(name)} ${wait} (${count}): ${message}`,
      };
    }
    case 'fallback': {
      const { failed, next } = notice;
      const message = errorMessage(notice.error);
      const line = `${shown(failed)} failed, asking ${shown(next)}: ${message}`;
      return { phase, fields: { failed, next, message }, line };
    }
    case 'answer': {
      const { name } = notice;
      return { phase, fields: { model: name }, line: `${shown(name)} answers` };
    }
    default:
      return notice satisfies never;
  }
}

const shown = (name: string): string => safeLine(name, 80);
