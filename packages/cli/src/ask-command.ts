import type { ImageRef } from '@celestea/core';

import { openConversation, type Conversation } from './conversation.ts';
import { exitCodeOf, remark, type ExitCode } from './exit.ts';
import { keepImages, readImages } from './images.ts';
import type { CliIo, CliParts } from './io.ts';
import type { Options } from './options.ts';
import { typedInFolder } from './places.ts';
import { TurnRenderer } from './render.ts';
import { styleOf } from './style.ts';
import { TurnMeter } from './turn-meter.ts';
import { TurnQuestions } from './turn-questions.ts';
import { framesView, linesView } from './turn-view.ts';

/**
 * Runs one turn over the files of a folder, shows it on `io.stdout` as it goes, and gives the
 * exit code. Rejects with a {@link Refusal} when a picture, a model, a folder or a session cannot
 * be used, and with what a broken seam throws.
 */
export async function runAsk(
  input: string,
  options: Options,
  io: CliIo,
  parts: CliParts,
): Promise<ExitCode> {
  const images = await readImages(options.image, typedInFolder(io));
  const conversation = await openConversation(options, io, parts);
  try {
    const attachments = await keepImages(images, conversation.session.attachments);
    const ask = options.json ? askInFrames : askInLines;
    return await ask(input, attachments, io, conversation);
  } finally {
    await conversation.close();
  }
}

async function askInFrames(
  input: string,
  attachments: readonly ImageRef[],
  io: CliIo,
  conversation: Conversation,
): Promise<ExitCode> {
  const { label } = conversation.session;
  if (label !== null && label.found !== null) remark(io, `${label.file}: ${label.found}`);
  const view = framesView(io, () => conversation.lastTurnId);
  const run = { view, meter: new TurnMeter(io.now), cancel: new AbortController(), attachments };
  return exitCodeOf(await conversation.ask(input, run));
}

async function askInLines(
  input: string,
  attachments: readonly ImageRef[],
  io: CliIo,
  conversation: Conversation,
): Promise<ExitCode> {
  const { approvals, model, root, session } = conversation;
  const meter = new TurnMeter(io.now);
  const cancel = new AbortController();
  const style = styleOf(io);
  const { terminal } = io;
  const questions =
    terminal === undefined || io.env['TERM'] === 'dumb'
      ? null
      : new TurnQuestions({ approvals, terminal, stdout: io.stdout, style, cancel });
  const stdout = questions ?? io.stdout;
  const renderer = new TurnRenderer({ write: (text) => stdout.write(text), style, figures: meter });
  renderer.header(model.name, root, session.label);
  if (questions !== null) approvals.askThrough(questions.askerOf(renderer));
  try {
    const run = { view: linesView(io, renderer), meter, cancel, attachments };
    return exitCodeOf(await conversation.ask(input, run));
  } finally {
    approvals.askThrough(null);
    questions?.close();
  }
}
