/** What `celestea --help` prints. */
export const HELP = `celestea: turns of an agent, over the files of a folder

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
  --root DIR               the folder of the agent (default: the current one)
  --json                   one server-sent-event frame a line, and nothing else, on stdout;
                           pnpm prints a banner of its own unless it is --silent
  --model [PROVIDER:]MODEL who answers; PROVIDER is deepseek, openai, anthropic, google or local.
                           Given again: who is asked when the one before fails
  --base-url URL           ask the OpenAI-compatible server there. The key sent to it is
                           CELESTEA_API_KEY; without one, OPENAI_API_KEY when that is for this
                           server: OPENAI_BASE_URL, or OpenAI's own where that is not set
  --offline                the built-in offline model answers, also when a key is set
  --image FILE             a PNG, JPEG, WebP or GIF picture that goes with the question; may be
                           given several times
  --no-images              tell the model of the session's pictures in words, if it cannot see
  --session FILE           keep the session in FILE, and continue what is there (default: a new
                           file in .celestea/sessions of the folder)
  --resume                 continue the last session of the folder; with --session, FILE has to
                           be there
  --no-session             keep nothing
  --mcp "COMMAND ARG..."   offer the tools of an MCP server as well; it is run without a shell;
  --mcp URL                may be given several times
  --read-only              offer neither write_file nor run_command
  --yes                    allow every call that asks before it runs
  --timeout SECONDS        cancel the turn when it takes longer
  --idle-timeout SECONDS   give up on a reply when the model is silent for longer
  --tool-timeout SECONDS   give up on a call that takes longer; the turn goes on
  --max-steps N            requests to the model in one turn (default: 16)
  --window TOKENS          the context window that a request has to fit in
  --port N                 with serve: listen at 127.0.0.1:N; 0 is any that is free (default:
                           7717, or any that is free when it is taken)
  --token-file FILE        with serve: the token is in FILE, which is made when it is not there
                           (default: that of CELESTEA_TOKEN, or a new one)
  --log-level LEVEL        with serve: debug, info, warn or error, on stderr (default: warn)
  --version                print the version
  -h, --help               print this
  --                       everything after it belongs to the question, such as log, serve

Who answers: a real model where DEEPSEEK_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY,
GOOGLE_GENERATIVE_AI_API_KEY or OPENAI_BASE_URL is set, or --base-url is given; else the offline
one. CELESTEA_MODEL names models when --model does not; beside --base-url they have to be of that
server. A request that fails and may succeed later is made again, which is one line on stderr.
Writing, commands and the tools of MCP servers ask before they run: y, n with a reason, or a for
always. Without a terminal, and with --json, such a call is refused unless --yes is given.
Ctrl-C cancels the turn and says which calls were abandoned; pressed again, it leaves at once. It
ends serve, as SIGTERM does, with exit code 0.
serve takes neither --session, --resume, --no-session, --image, --no-images, --json nor --timeout.
Colours: not when stdout is no terminal or NO_COLOR is set; FORCE_COLOR asks for them.
Exit codes: 0 completed, 130 cancelled, 143 cancelled by SIGTERM, 2 misuse, 1 anything else.
`;

/** Where a message about misuse sends people. */
export const HELP_HINT = 'Try celestea --help.';

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
