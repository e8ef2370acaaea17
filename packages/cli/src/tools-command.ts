import type { ToolsCommand } from './args.ts';
import { Approvals } from './approvals.ts';
import { refuse } from './complain.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import type { CliIo } from './io.ts';
import { typedInFolder } from './places.ts';
import { safeJson, safeLine } from './safe-text.ts';
import { createStyle, wantsColours } from './style.ts';
import { openToolSet } from './tool-set.ts';

const LONGEST_NAME = 64;
const LONGEST_DESCRIPTION = 200;

/** Lists what the model is offered: as lines for people, or the specs as JSON lines. */
export async function runTools(command: ToolsCommand, io: CliIo): Promise<ExitCode> {
  const opened = await openToolSet(command.tools, {
    root: command.root,
    typedIn: typedInFolder(io),
    signal: io.signal,
  });
  if (!opened.ok) return refuse(io.stderr, opened);
  const { registryFor, asks, close } = opened.tools;
  try {
    const { bold, yellow, dim } = createStyle(wantsColours(io));
    const specs = registryFor(new Approvals()).schemas();
    const width = Math.max(...specs.map(({ name }) => name.length));
    for (const spec of specs) {
      if (command.json) {
        io.stdout.write(`${safeJson(JSON.stringify(spec))}\n`);
        continue;
      }
      const name = safeLine(spec.name, LONGEST_NAME);
      const [line = ''] = spec.description.trim().split('\n');
      const asking = asks(spec.name) ? yellow('asks') : '    ';
      const description = dim(safeLine(line, LONGEST_DESCRIPTION));
      const gap = ' '.repeat(Math.max(0, width - name.length));
      io.stdout.write(`${bold(name)}${gap}  ${asking}  ${description}`.trimEnd() + '\n');
    }
    return EXIT.completed;
  } finally {
    await close();
  }
}
