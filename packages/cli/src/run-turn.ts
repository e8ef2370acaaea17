import type { ImageRef } from '@celestea/core';

import type { AskCommand } from './args.ts';
import type { CliParts } from './cli-parts.ts';
import { refuse, remark } from './complain.ts';
import { openConversation, type Conversation } from './conversation.ts';
import { exitCodeOf, type ExitCode } from './exit-code.ts';
import { keepImages, readImages } from './images.ts';
import type { CliIo } from './io.ts';
import { typedInFolder } from './places.ts';
import { TurnRenderer } from './render.ts';
import { createStyle, wantsColours, type Style } from './style.ts';
import { TurnMeter } from './turn-meter.ts';
import { TurnQuestions } from './turn-questions.ts';
import { framesView, linesView } from './turn-view.ts';

/**
 * Runs one turn over the files of a folder, shows it on `io.stdout` as it goes, and gives the
 * exit code. A picture, a model, a folder or a session that cannot be used is told on
 * `io.stderr`; it rejects only with what a broken seam throws.
 */
export async function runTurn(
  command: AskCommand,
  io: CliIo,
  parts: CliParts,
): Promise<ExitCode> {
  const read = await readImages(command.images, typedInFolder(io));
  if (!read.ok) return refuse(io.stderr, read);
  const opened = await openConversation(command, io, parts);
  if (!opened.ok) return refuse(io.stderr, opened);
  const { conversation } = opened;
  try {
    const kept = await keepImages(read.images, conversation.attachments);
    if (!kept.ok) return refuse(io.stderr, kept);
    return await askOnce(command, kept.refs, io, conversation);
  } finally {
    await conversation.close();
  }
}

async function askOnce(
  { question, json }: AskCommand,
  attachments: readonly ImageRef[],
  io: CliIo,
  conversation: Conversation,
): Promise<ExitCode> {
  const { model, root, label, log } = conversation;
  const meter = new TurnMeter(io.now);
  const cancel = new AbortController();
  if (json) {
    if (label !== null && label.found !== null) remark(io, `${label.file}: ${label.found}`);
    const view = framesView(io, () => log.lastTurnId());
    const run = { view, meter, cancel, attachments };
    return exitCodeOf(await conversation.ask(question, run));
  }
  const style = createStyle(wantsColours(io));
  const questions = questionsOf(io, conversation, style, cancel);
  const stdout = questions ?? io.stdout;
  const renderer = new TurnRenderer({ write: (text) => stdout.write(text), style, figures: meter });
  renderer.header(model, root, label);
  if (questions !== null) conversation.approvals.askThrough(questions.askerOf(renderer));
  const view = linesView(io, renderer);
  try {
    const run = { view, meter, cancel, attachments };
    return exitCodeOf(await conversation.ask(question, run));
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
