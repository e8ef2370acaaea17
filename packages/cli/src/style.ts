import type { CliIo } from './io.ts';

/** Puts a text between the codes of a colour, or hands it back as it is. */
export type Paint = (text: string) => string;

/** The few looks the command uses. A text never leaves a look switched on behind it. */
export interface Style {
  readonly dim: Paint;
  readonly bold: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

/** The style of a terminal with colours, or one that changes nothing. */
export function createStyle(colours: boolean): Style {
  const paint =
    (on: number, off: number): Paint =>
    (text) =>
      colours && text !== '' ? `\x1b[${String(on)}m${text}\x1b[${String(off)}m` : text;
  return {
    dim: paint(2, 22),
    bold: paint(1, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
  };
}

/**
 * Whether what goes to stdout has colours: when a terminal is there that knows them, and
 * `NO_COLOR` is not set. `FORCE_COLOR` asks for them where there is no terminal. Set means
 * not empty, and for `FORCE_COLOR` not `0` or `false`.
 */
export function wantsColours({ stdout, env }: Pick<CliIo, 'stdout' | 'env'>): boolean {
  if (isSet(env['NO_COLOR'])) return false;
  const forced = env['FORCE_COLOR'];
  if (isSet(forced)) return forced !== '0' && forced !== 'false';
  return stdout.isTTY === true && env['TERM'] !== 'dumb';
}

/** The looks of what goes to stdout. */
export const styleOf = (io: Pick<CliIo, 'stdout' | 'env'>): Style => createStyle(wantsColours(io));

const isSet = (value: string | undefined): boolean => value !== undefined && value !== '';
