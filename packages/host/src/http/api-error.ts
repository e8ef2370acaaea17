import { HostError, type HostErrorCode } from '../sessions/index.ts';

/** The status of each refusal. */
const STATUSES = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  busy: 409,
  idle: 409,
  damaged: 409,
  gone: 410,
  too_large: 413,
  unsupported_media_type: 415,
  too_many: 429,
  failed: 500,
} as const;

/** What a refusal is called in an answer. */
export type ApiErrorCode = keyof typeof STATUSES;

/** Every {@link ApiErrorCode}. */
export const API_ERROR_CODES = Object.keys(STATUSES) as ApiErrorCode[];

/** Beside the code and the message. */
export interface ApiErrorExtras {
  /** What a program can use, as plain JSON. */
  readonly details?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal as it is answered: all of it may be seen by whoever asked. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  readonly status: number;
  readonly details: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ApiErrorCode, message: string, { details, headers = {} }: ApiErrorExtras = {}) {
    super(message);
    this.code = code;
    this.status = STATUSES[code];
    this.details = details;
    this.headers = headers;
  }
}

/** What may be told of anything that was thrown; of what is the host's own fault, nothing. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (!(error instanceof HostError)) return new ApiError('failed', 'the host is at fault');
  const code: HostErrorCode = error.code;
  if (code !== 'failed') return new ApiError(code, error.message);
  return new ApiError('failed', 'the session or its disk is at fault');
}
