import { expectThat } from '@celestea/core';
import { pino, type DestinationStream, type Logger } from 'pino';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** How much a host says of what it does, from all to the least. */
export type HostLogLevel = (typeof LEVELS)[number];

/**
 * A logger for `HostOptions.log` that writes a line of JSON for each thing that it tells. Throws a
 * `TypeError` for another level.
 *
 * @example createHost({ folder, parts, log: hostLogger(process.stderr, 'info') })
 */
export function hostLogger(stream: DestinationStream, level: HostLogLevel = 'info'): Logger {
  expectThat(LEVELS.includes(level), 'level', `one of ${LEVELS.join(', ')}`, level);
  const formatters = { level: (label: string): object => ({ level: label }) };
  return pino({ level, base: null, formatters }, stream);
}
