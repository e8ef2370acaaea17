import { EXIT } from './exit-code.ts';
import { HELP_HINT } from './help.ts';
import type { Output } from './io.ts';
import { safeText } from './safe-text.ts';

/** Says what went wrong. */
export function complain(stderr: Output, message: string): void {
  stderr.write(`celestea: ${safeText(message)}\n`);
}

/** Says what is wrong with the command line and where to look; gives the exit code. */
export function misuse(stderr: Output, message: string): typeof EXIT.misuse {
  complain(stderr, `${message}\n${HELP_HINT}`);
  return EXIT.misuse;
}
