import { errorMessage } from '@celestea/agent-loop';
import type { AttachmentStore } from '@celestea/core';
import { llmFromEnv, LlmSetupError, type LlmFromEnvOptions, type NamedLlm } from '@celestea/llm';
import { OfflineLlm } from '@celestea/offline';

import type { TurnSettings } from './args.ts';
import type { CliParts } from './cli-parts.ts';
import type { Refusal } from './complain.ts';
import { startDeadline } from './deadline.ts';
import { EXIT } from './exit-code.ts';
import { formatDuration } from './format.ts';
import type { CliIo } from './io.ts';
import type { ModelNotices } from './model-notices.ts';

/** A model that is ready to be asked. */
export interface OpenedModel {
  readonly ok: true;
  readonly model: NamedLlm;
  /** Whether it gives up on a silent reply by itself, to ask again or to ask another model. */
  readonly watchesSilence: boolean;
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

type Settings = Pick<TurnSettings, 'model' | 'modelDelayMs' | 'limits'>;

/**
 * The model that the host, the command line or the environment names, else the offline one; or
 * why there is none. Never rejects.
 */
export async function openModel(
  settings: Settings,
  { model, findModel = llmFromEnv }: CliParts,
  places: ModelPlaces,
): Promise<OpenedModel | Refusal> {
  if (model !== undefined) return { ok: true, model, watchesSilence: false, sendsPictures: false };
  if (settings.model.offline) return offlineModel(settings);
  const { timeoutMs } = settings.limits;
  const late = new AbortController();
  const stopClock = startDeadline(timeoutMs, () => {
    late.abort();
  });
  const signal = timeoutMs === null ? places.signal : AbortSignal.any([places.signal, late.signal]);
  try {
    const found = await findModel(optionsOf(settings, { ...places, signal }));
    if (found === null) return offlineModel(settings);
    return { ok: true, model: found, watchesSilence: true, sendsPictures: settings.model.images };
  } catch (error) {
    if (!signal.aborted) return { ok: false, code: EXIT.failed, error: problemOf(error) };
    const limit = formatDuration(timeoutMs ?? 0);
    const why = places.signal.aborted ? '' : `: it took longer than --timeout, ${limit}`;
    return { ok: false, code: EXIT.cancelled, error: `cancelled while the model was set up${why}` };
  } finally {
    stopClock();
  }
}

function offlineModel({ modelDelayMs }: Settings): OpenedModel {
  const model = { name: 'offline model', llm: new OfflineLlm({ delayMs: modelDelayMs }) };
  return { ok: true, model, watchesSilence: false, sendsPictures: false };
}

function optionsOf(
  { model: { models, baseUrl, images }, limits: { idleTimeoutMs } }: Settings,
  { env, signal, attachments, notices }: ModelPlaces,
): LlmFromEnvOptions {
  const silence = idleTimeoutMs ?? 0;
  return {
    env,
    signal,
    models,
    ...(baseUrl === null ? {} : { baseURL: baseUrl }),
    attachments,
    ...(images ? {} : { pictures: false }),
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
