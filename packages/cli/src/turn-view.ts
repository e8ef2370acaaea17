import { errorMessage, type Diagnostic, type DiagnosticKind } from '@celestea/agent-loop';

import { remark } from './complain.ts';
import type { TurnView } from './conversation.ts';
import type { CliIo } from './io.ts';
import { JsonLines } from './json-lines.ts';
import { noticeFields, noticeLine } from './model-notices.ts';
import type { TurnRenderer } from './render.ts';

const SESSION = 'cli';

/** Of no use to people: the closing line tells of the one, and the other changes nothing. */
const NOT_SHOWN: readonly DiagnosticKind[] = ['model_failed', 'call_id_replaced'];

/** A turn as people follow it: on stdout, its diagnostics on stderr. */
export function linesView(
  { stdout, stderr, env }: Pick<CliIo, 'stdout' | 'stderr' | 'env'>,
  renderer: TurnRenderer,
): TurnView {
  const isShared = stdout.isTTY === true && stderr.isTTY === true;
  const beside = (text: string): void => {
    if (isShared) renderer.freshLine();
    remark({ stderr, env }, text);
  };
  return {
    sink: (event) => {
      renderer.render(event);
    },
    onDiagnostic: (diagnostic) => {
      if (NOT_SHOWN.includes(diagnostic.kind)) return;
      beside(`diagnostic ${diagnostic.kind}: ${diagnosticText(diagnostic)}`);
    },
    onModelNotice: (notice) => {
      beside(noticeLine(notice));
    },
    onAdvice: beside,
    onTimeout: (reason) => {
      renderer.explainCancel(reason);
    },
  };
}

/**
 * A turn as programs follow it: a frame a line, its diagnostics among them. `turn` gives the
 * turn's id, asked for once, with the first frame.
 */
export function framesView({ stdout }: Pick<CliIo, 'stdout'>, turn: () => string): TurnView {
  const writer = new JsonLines({
    write: (text) => stdout.write(text),
    session: SESSION,
    turn,
  });
  return {
    sink: (event) => {
      writer.render(event);
    },
    onDiagnostic: (diagnostic) => {
      const message = diagnosticText(diagnostic);
      writer.status('diagnostic', { kind: diagnostic.kind, message });
    },
    onModelNotice: (notice) => {
      writer.status(notice.kind, noticeFields(notice));
    },
    onAdvice: (message) => {
      writer.status('advice', { message });
    },
    onTimeout: (message) => {
      writer.status('timeout', { message });
    },
  };
}

function diagnosticText({ message, error }: Diagnostic): string {
  return error === undefined ? message : `${message}: ${errorMessage(error)}`;
}
