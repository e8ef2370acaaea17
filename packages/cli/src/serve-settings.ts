import { readPort } from './limits.ts';
import { numberOf, shown, type Given, type OptionName } from './options.ts';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** How much a host says of what it does, from all to the least. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Where a host listens, whom it lets in and what it says. */
export interface ServeSettings {
  /** 0 is any that is free; `null` for the usual one. */
  readonly port: number | null;
  /** Where the token is kept, as it was given; `null` for a new one each time. */
  readonly tokenFile: string | null;
  readonly logLevel: LogLevel;
}

/** The options that only a host has a use for. */
export const SERVE_ALONE: readonly OptionName[] = ['port', 'token-file', 'log-level'];

/** Notes what is wrong with the options among the errors. */
export function readServeSettings(given: Given): ServeSettings {
  const tokenFile = given.values.get('token-file') ?? null;
  if (tokenFile === '') given.errors.push('--token-file: expected a file, got an empty text');
  return { port: numberOf(given, 'port', readPort), tokenFile, logLevel: readLogLevel(given) };
}

function readLogLevel({ values, errors }: Given): LogLevel {
  const text = values.get('log-level') ?? 'warn';
  const level = LOG_LEVELS.find((known) => known === text);
  if (level !== undefined) return level;
  errors.push(`--log-level: expected one of ${LOG_LEVELS.join(', ')}, got ${shown(text)}`);
  return 'warn';
}
