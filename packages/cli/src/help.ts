/** What `celestea --help` prints. */
export const HELP = `celestea: one turn of an agent, over the files of a folder

Usage
  celestea [options] QUESTION...

Examples
  celestea "which files mention AbortSignal, and what does README.md say about cancelling?"
  celestea what is in package.json
  celestea --root ../other-project "list the files in src"
  celestea --json "what is in README.md?" > frames.jsonl
  celestea -- --json is an option of what?

In a clone of the repository: npx -y pnpm@10 start "QUESTION"

Options
  --root DIR   the folder whose files the agent may read (default: the current one)
  --json       one server-sent-event frame a line, and nothing else, on stdout
  --version    print the version
  -h, --help   print this
  --           everything after it belongs to the question

Ctrl-C cancels the turn; pressed again, it leaves at once.
Colours: not when stdout is no terminal or NO_COLOR is set; FORCE_COLOR asks for them.
Exit codes: 0 completed, 130 cancelled, 2 misuse, 1 anything else.
`;

/** Where a message about misuse sends people. */
export const HELP_HINT = 'Try celestea --help.';
