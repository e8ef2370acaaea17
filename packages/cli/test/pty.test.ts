import { describe, expect, it } from 'vitest';

import { freshFolder } from './support/folder.ts';
import { hasPty, OnTerminal } from './support/pty.ts';

// These wait for what a process shows; how long that takes depends on the machine.
const PATIENCE = { timeout: 120_000 };
/** So long that the turn still runs whenever its first words are read. */
const FOR_EVER = '--model-delay=2147483647';
const PROMPT = '› ';

const why = hasPty ? '' : ' (skipped: this machine has no python3 with the module pty)';

describe.skipIf(!hasPty)(`on a real terminal${why}`, PATIENCE, () => {
  it('asks, steers, cancels, asks again and leaves', async () => {
    const folder = freshFolder({ 'README.md': '# Tea\n' });
    const command = new OnTerminal(folder, [FOR_EVER]);
    await command.shows(`offline model · ${folder}`);
    await command.shows(PROMPT);
    for (let turn = 0; turn < 2; turn += 1) {
      command.type('what does README.md say?\r');
      await command.shows('\nThe');
      command.type('rather list src\r');
      await command.shows('steering: rather list src');
      command.type('\x03');
      await command.shows('cancelled · 1 step');
      await command.shows('not sent, the turn was over: rather list src');
      await command.shows(PROMPT);
    }
    command.type('/quit\r');
    expect(await command.ended).toBe(0);
  });

  it('a question asked with the command is one turn, cancelled by Ctrl-C', async () => {
    const command = new OnTerminal(freshFolder(), [FOR_EVER, 'what does README.md say?']);
    await command.shows('\nThe');
    command.type('\x03');
    await command.shows('cancelled · 1 step');
    expect(await command.ended).toBe(130);
  });
});
