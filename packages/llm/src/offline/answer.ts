import type { ToolSpec } from '@celestea/core';
import { explorationFiles, explorationSearches, topicsInWords } from './explore-plan.ts';
import type { ExploreIntent, Intent, Question } from './intent.ts';
import type { PlanContext } from './move.ts';
import { MAX_STEPS } from './plan.ts';
import { pieceMentions } from './read-plan.ts';
import { searchState } from './search-plan.ts';
import { showFile, showFolder, showSearch } from './show.ts';
import { inlineCode, joinWithin, oneLine } from './text.ts';
import { showWrite } from './write-plan.ts';

/** What every answer ends with: the model says what it is. */
const WHAT_I_AM: string =
  "This is celestea's offline model: it follows simple rules and cannot reason like a language " +
  "model. The command celestea asks a real one when a provider's key is set, or with --base-url: " +
  'see celestea --help.';

const GREETING =
  'Hello! Ask me about the files here, for example what `README.md` says about a topic.';
const BEYOND =
  'I cannot answer that: it names no file, no folder and no word that I could look for, and I ' +
  'know nothing by myself.';
const ABILITIES =
  'I can list folders, read files, search in them and write a text that is given word for word, ' +
  'as in `write "hello" to notes.md`,';
const DESCRIBED =
  'I write only a text that is given word for word, to one file. Put the text in quotes, as in ' +
  '`write "hello" to notes.md`.';
const MAX_ANSWER = 6000;
const MAX_TOOLS = 20;

/** What an answer is written from. */
export interface AnswerContext extends PlanContext {
  readonly question: Question;
  readonly tools: readonly ToolSpec[];
  readonly hasImages: boolean;
  readonly outOfSteps: boolean;
}

/** Writes the answer: the parts of the question in their order, then what the model is. */
export function writeAnswer(context: AnswerContext): string {
  const { parts, dropped } = context.question;
  const budget = Math.floor(MAX_ANSWER / Math.max(1, parts.length));
  const sections: string[] = [];
  let heading = '';
  for (const part of parts) {
    const body = joinWithin(showIntent(part.intent, context), budget);
    const isNew = parts.length > 1 && part.text !== heading;
    heading = part.text;
    sections.push(isNew ? `**${oneLine(heading, 120).replaceAll('*', '')}**\n\n${body}` : body);
  }
  return [...sections, ...notes(context, dropped), WHAT_I_AM].join('\n\n');
}

function notes({ outOfSteps, hasImages }: AnswerContext, dropped: number): string[] {
  const said: string[] = [];
  if (outOfSteps) {
    said.push(`I stopped after ${String(MAX_STEPS)} steps with tools; this is what I have.`);
  }
  if (hasImages) said.push('I cannot look at pictures, so I left them aside.');
  if (dropped > 0) said.push(`The question has ${String(dropped)} more parts; I left them aside.`);
  return said;
}

function showIntent(intent: Intent, context: AnswerContext): string[] {
  switch (intent.kind) {
    case 'read':
      return showFile(intent, context);
    case 'search':
      return showSearch(intent, context);
    case 'list':
      return showFolder(intent, context);
    case 'explore':
      return showExploration(intent, context);
    case 'write':
      return showWrite(intent, context);
    case 'described':
      return [DESCRIBED];
    case 'greeting':
      return [GREETING];
    case 'beyond':
      return [`${BEYOND} ${ABILITIES} as far as the tools for it are offered.`];
    case 'capabilities':
      return showCapabilities(context.tools);
    default:
      return intent satisfies never;
  }
}

function showExploration(intent: ExploreIntent, context: AnswerContext): string[] {
  const { evidence, offered } = context;
  const canLook = [...offered].some((name) => name !== 'write_file');
  if (!canLook && evidence.size === 0) {
    const tools = context.tools.length === 0 ? 'No tools are' : 'None of the tools I look with is';
    return [`${tools} offered to me, so I cannot look anything up, and I know nothing by myself.`];
  }
  const files = explorationFiles(intent, evidence);
  const telling = files.filter((file) => {
    const pieces = evidence.piecesOf(file.path);
    if (intent.topics.length === 0) return pieces.length > 0;
    return pieces.some((piece) => pieceMentions(piece, intent.topics));
  });
  const blocks = telling.flatMap((file) => showFile(file, context));
  const searches = explorationSearches(intent, telling.length === 0);
  const found = searches.filter((search) => searchState(search, evidence).kind === 'found');
  blocks.push(...found.flatMap((search) => showSearch(search, context)));
  const about = topicsInWords(intent.topics);
  if (blocks.length > 0) {
    const lead = `No rule of mine fits this question; I looked for ${about} in the files.`;
    return [...(about === '' ? [] : [lead]), ...unhappySearches(intent, context), ...blocks];
  }
  const nothing = about === '' ? 'I found nothing to go by.' : `I found nothing about ${about}.`;
  return [nothing, ...unhappySearches(intent, context), ...showStart(context)];
}

/** The searches that failed, which must not pass for ones that found nothing. */
function unhappySearches(intent: ExploreIntent, context: AnswerContext): string[] {
  return explorationSearches(intent, false)
    .filter((search) => searchState(search, context.evidence).kind === 'stopped')
    .flatMap((search) => showSearch(search, context));
}

function showStart(context: AnswerContext): string[] {
  if (context.evidence.folder(null) === undefined) return [];
  return showFolder({ kind: 'list', path: null }, context);
}

function showCapabilities(tools: readonly ToolSpec[]): string[] {
  if (tools.length === 0) {
    return ['I can only answer from fixed rules here: no tools are offered to me.'];
  }
  const rows = tools.slice(0, MAX_TOOLS).map(({ name, description }) => {
    return `- ${inlineCode(name)}: ${oneLine(description, 160) || '(no description)'}`;
  });
  if (tools.length > MAX_TOOLS) rows.push(`- … and ${String(tools.length - MAX_TOOLS)} more`);
  return [
    `${ABILITIES} as far as these tools are offered:`,
    rows.join('\n'),
  ];
}
