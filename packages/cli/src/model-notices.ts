import { errorMessage } from '@celestea/agent-loop';
import type { FallbackNotice, RetryNotice } from '@celestea/llm';

import { formatDuration } from './format.ts';
import { safeLine } from './safe-text.ts';

/** What is told of a model beside its replies. */
export type ModelNotice =
  /** The same request is about to be made again. */
  | ({ readonly kind: 'retry'; readonly name: string } & RetryNotice)
  /** Another model is about to be asked. */
  | ({ readonly kind: 'fallback' } & FallbackNotice)
  /** Another one answers than before; at the start of a turn, than the first. */
  | { readonly kind: 'answer'; readonly name: string };

/** Told of what happens beside the replies while a turn runs. */
export type ModelNoticeListener = (notice: ModelNotice) => void;

/** Hands what a model tells to the turn that runs; between turns nobody is told. */
export class ModelNotices {
  #listener: ModelNoticeListener | null = null;
  /** Who answered last. */
  #answering = '';

  /** A turn begins, or with `null` none runs. `first` is the model that is asked first. */
  listen(listener: ModelNoticeListener | null, first: string): void {
    this.#listener = listener;
    this.#answering = first;
  }

  tell(notice: ModelNotice): void {
    if (notice.kind === 'answer') {
      if (notice.name === this.#answering) return;
      this.#answering = notice.name;
    }
    this.#listener?.(notice);
  }
}

const LONGEST_NAME = 80;

/** A notice as one line for people; what the provider said stands at its end. */
export function noticeLine(notice: ModelNotice): string {
  switch (notice.kind) {
    case 'retry': {
      const { name, attempt, attempts, delayMs, error } = notice;
      const wait = delayMs === 0 ? 'now' : `in ${formatDuration(delayMs).replace('.0 s', ' s')}`;
      const count = `${String(attempt)} of ${String(attempts)}`;
      return `retrying ${shown(name)} ${wait} (${count}): ${errorMessage(error)}`;
    }
    case 'fallback': {
      const { failed, next, error } = notice;
      return `${shown(failed)} failed, asking ${shown(next)}: ${errorMessage(error)}`;
    }
    case 'answer':
      return `${shown(notice.name)} answers`;
    default:
      return notice satisfies never;
  }
}

/** A notice as the fields of a `status` event, whose phase is its kind. */
export function noticeFields(notice: ModelNotice): Record<string, unknown> {
  switch (notice.kind) {
    case 'retry': {
      const { name, attempt, attempts, delayMs, error } = notice;
      const message = errorMessage(error);
      return { model: name, attempt, attempts, delay_ms: delayMs, message };
    }
    case 'fallback': {
      const { failed, next, error } = notice;
      return { failed, next, message: errorMessage(error) };
    }
    case 'answer':
      return { model: notice.name };
    default:
      return notice satisfies never;
  }
}

const shown = (name: string): string => safeLine(name, LONGEST_NAME);
