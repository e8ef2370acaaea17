import type { AskCommand } from './args.ts';
import { refuse, remark } from './complain.ts';
import { openConversation, type Conversation, type NamedLlm } from './conversation.ts';
import { exitCodeOf, type ExitCode } from './exit-code.ts';
import type { CliIo } from './io.ts';
import { TurnRenderer } from './render.ts';
import { createStyle, wantsColours, type Style } from './style.ts';
import { TurnMeter } from './turn-meter.ts';
import { TurnQuestions } from './turn-questions.ts';
import { framesView, linesView } from './turn-view.ts';

/**
 * Runs one turn over the files of a folder, shows it on `io.stdout` as it goes, and gives the
 * exit code. `model` answers in place of the offline one. A folder or a session that cannot be
 * used is told on `io.stderr`; it rejects only with what a broken seam throws.
 */
export async function runTurn(
  command: AskCommand,
  io: CliIo,
  model: NamedLlm | undefined,
): Promise<ExitCode> {
  const opened = await openConversation(command, io, model);
  if (!opened.ok) return refuse(io.stderr, opened);
  const { conversation } = opened;
  try {
    return await askOnce(command, io, conversation);
  } finally {
    await conversation.close();
  }
}

async function askOnce(
  { question, json }: AskCommand,
  io: CliIo,
  conversation: Conversation,
): Promise<ExitCode> {
  const { model, root, label, log } = conversation;
  const meter = new TurnMeter(io.now);
  const cancel = new AbortController();
  if (json) {
    if (label !== null && label.found !== null) remark(io, `${label.file}: ${label.found}`);
    const view = framesView(io, () => log.lastTurnId());
    return exitCodeOf(await conversation.ask(question, { view, meter, cancel }));
  }
  const style = createStyle(wantsColours(io));
  const questions = questionsOf(io, conversation, style, cancel);
  const stdout = questions ?? io.stdout;
  const renderer = new TurnRenderer({ write: (text) => stdout.write(text), style, figures: meter });
  renderer.header(model, root, label);
  if (questions !== null) conversation.approvals.askThrough(questions.askerOf(renderer));
  const view = linesView(io, renderer);
  try {
    return exitCodeOf(await conversation.ask(question, { view, meter, cancel }));
  } finally {
    conversation.approvals.askThrough(null);
    questions?.close();
  }
}

/** Who asks the person at the terminal; `null` without one. */
function questionsOf(
  { terminal, stdout, env }: CliIo,
  { approvals }: Conversation,
  style: Style,
  turn: AbortController,
): TurnQuestions | null {
  if (terminal === undefined || env['TERM'] === 'dumb') return null;
  const cancel = (): void => {
    turn.abort();
  };
  return new TurnQuestions({ approvals, terminal, stdout, style, cancel });
}
