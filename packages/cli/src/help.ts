import { dashed, OPTION_NAMES, OPTIONS, type OptionName } from './options.ts';

const INDENT = 27;
const WIDTH = 100;

/** The options of a turn that a host has no use for. */
const NOT_SERVED = OPTION_NAMES.filter((name) => {
  const { takenBy } = OPTIONS[name];
  return takenBy.includes('turn') && !takenBy.includes('serve');
}).map((name) => `--${dashed(name)}`);

/** What `celestea --help` prints. */
export const helpText = (): string => `celestea: turns of an agent, over the files of a folder

Usage
  celestea [options] QUESTION...   one turn
  celestea [options]               a prompt that stays, on a terminal
  celestea log FILE [--json]       print a session, or its rows as JSON lines
  celestea check FILE              say what is wrong with a session; changes nothing
  celestea tools [options]         list the tools that the model is offered
  celestea serve [options]         a page of many sessions in your browser, and an API

Examples, in a clone of the repository
  npx -y pnpm@10 start "which files mention AbortSignal?"
  npx -y pnpm@10 start
  npx -y pnpm@10 start serve
  npx -y pnpm@10 --silent start --json "what is in README.md?" > frames.jsonl

The same where the command is installed, and more
  celestea "which files mention AbortSignal, and what does README.md say about cancelling?"
  celestea what is in package.json
  celestea --root ../other-project "list the files in src"
  celestea --json "what is in README.md?" > frames.jsonl
  celestea --resume "and what does it say about tools?"
  celestea --model deepseek:deepseek-chat --model local:llama3 "what is this project about?"
  celestea --base-url http://127.0.0.1:11434/v1 "what is this project about?"
  celestea --image screen.png "what went wrong here?"
  celestea --mcp "npx -y some-mcp-server" "what can it tell us?"
  celestea -- --json is an option of what?

Options
${OPTION_NAMES.map(optionLines).join('')}\
${entry('--', 'everything after it belongs to the question, such as log, serve')}
Who answers: a real model where DEEPSEEK_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY,
GOOGLE_GENERATIVE_AI_API_KEY or OPENAI_BASE_URL is set, or --base-url is given; else the offline
one. CELESTEA_MODEL names models when --model does not; beside --base-url they have to be of that
server. A request that fails and may succeed later is made again, which is one line on stderr.
Writing, commands and the tools of MCP servers ask before they run: y, n with a reason, or a for
always. Without a terminal, and with --json, such a call is refused unless --yes is given.
Ctrl-C cancels the turn and says which calls were abandoned; pressed again, it leaves at once. It
ends serve, as SIGTERM does, with exit code 0.
serve takes none of ${NOT_SERVED.join(', ')}.
Colours: not when stdout is no terminal or NO_COLOR is set; FORCE_COLOR asks for them.
Exit codes: 0 completed, 130 cancelled, 143 cancelled by SIGTERM, 2 misuse, 1 anything else.
`;

/** What stands over the prompt. */
export const PROMPT_HINT = 'Ask about the files here. /help says more, Ctrl-D leaves.';

/** What `/help` prints at the prompt. */
export const PROMPT_HELP = `A line is a question; what was said before is remembered.
While a turn runs, a line steers it: the model gets it with its next request. When the turn asks
whether a call may run, a line answers: y, n, n and a reason, or a for always.
  /help    this
  /quit    leave, as Ctrl-D does
  Ctrl-C   cancel the turn that runs; drop a half-typed line; else leave
`;

/** An option as the help shows it; nothing for one that is for demonstrations. */
function optionLines(name: OptionName): string {
  const { alias, value, takenBy, help } = OPTIONS[name];
  if (help === '') return '';
  const letter = alias === undefined ? '' : `-${alias}, `;
  const typed = `${letter}--${dashed(name)}${value === null ? '' : ` ${value.name}`}`;
  const isOnlyServed = takenBy.length === 1 && takenBy.includes('serve');
  return entry(typed, `${isOnlyServed ? 'with serve: ' : ''}${help}`);
}

/** What is typed, and beside it what it means, line by line. */
function entry(typed: string, meaning: string): string {
  const line = new RegExp(`(?! ).{1,${String(WIDTH - INDENT)}}(?= |$)`, 'g');
  const lines = meaning.match(line) ?? [];
  const [first = '', ...more] = lines;
  const head = `  ${typed}`.padEnd(INDENT - 1);
  return [`${head} ${first}`, ...more.map((text) => ' '.repeat(INDENT) + text), ''].join('\n');
}
