import { plainPath, type Evidence, type PlannedCall } from './evidence.ts';
import type { ReadIntent } from './intent.ts';
import { NOTHING_TO_DO, type Move, type PlanContext } from './move.ts';
import type { FileResult } from './results.ts';
import { inlineCode } from './text.ts';
import { USUAL_FOLDERS } from './tokens.ts';
import { mentionsAny } from './words.ts';

const MAX_PIECES = 4;
const AROUND = 40;

/** The next calls for a file that the question names. */
export function planRead(intent: ReadIntent, context: PlanContext): Move {
  if (!context.offered.has('read_file')) return NOTHING_TO_DO;
  const path = resolvePath(intent.path, context.evidence);
  const call = firstRead(intent, path);
  if (context.evidence.resultOf(call) !== undefined) return readOn(path, intent, context);
  if (context.evidence.piecesOf(path).length > 0 && intent.line === null) {
    return readOn(path, intent, context);
  }
  return { calls: [call], why: [whyRead(intent, path)] };
}

function whyRead({ topics, path: named }: ReadIntent, path: string): string {
  const about = topics.length > 0 ? ` and look for ${topics.slice(0, 4).join(', ')} in it` : '';
  const instead = path === named ? '' : ` in place of ${inlineCode(named)}, which is not there`;
  return `I read ${inlineCode(path)}${instead}${about}.`;
}

function firstRead({ line }: ReadIntent, path: string): PlannedCall {
  if (line === null) return { name: 'read_file', args: { path } };
  return readAround(path, line);
}

/** Reads the lines around one line. */
export function readAround(path: string, line: number): PlannedCall {
  const offset = Math.max(1, line - AROUND / 4);
  return { name: 'read_file', args: { path, offset, limit: AROUND } };
}

/** Reads on where a file was cut short before the topic came up. */
function readOn(path: string, intent: ReadIntent, context: PlanContext): Move {
  const pieces = context.evidence.piecesOf(path);
  const last = pieces.at(-1);
  if (last === undefined) return lookForFile(path, context);
  if (intent.topics.length === 0 || intent.line !== null) return NOTHING_TO_DO;
  if (!last.truncated || pieces.length >= MAX_PIECES) return NOTHING_TO_DO;
  if (pieces.some((piece) => pieceMentions(piece, intent.topics))) return NOTHING_TO_DO;
  const offset = last.lastLine + 1;
  const call: PlannedCall = { name: 'read_file', args: { path, offset } };
  const done = context.evidence.resultOf(call) !== undefined;
  const past = last.totalLines !== null && offset > last.totalLines;
  if (done || past) return NOTHING_TO_DO;
  const why = `${inlineCode(path)} goes on after line ${String(last.lastLine)}; I read on.`;
  return { calls: [call], why: [why] };
}

/** Whether a piece of a file has one of the topics. */
export function pieceMentions(piece: FileResult, topics: readonly string[]): boolean {
  return piece.lines.some((line) => mentionsAny(line, topics));
}

/** A file that is not where the question says: look in the folder, then in the usual ones. */
function lookForFile(path: string, { evidence, offered }: PlanContext): Move {
  const trouble = evidence.readingTrouble(path);
  if (trouble?.kind !== 'failed' || !isMissing(trouble.error)) return NOTHING_TO_DO;
  if (!offered.has('list_dir')) return NOTHING_TO_DO;
  const parent = folderOf(path);
  const listing = evidence.folder(parent);
  if (listing === undefined) {
    const args = parent === '' ? {} : { path: parent };
    const why = `${inlineCode(path)} is not there; I look what is in its folder.`;
    return { calls: [{ name: 'list_dir', args }], why: [why] };
  }
  if (listing.kind !== 'folder' || parent !== '') return NOTHING_TO_DO;
  const folders = listing.entries
    .filter(({ name, isFolder }) => isFolder && USUAL_FOLDERS.includes(name))
    .filter(({ name }) => evidence.folder(name) === undefined)
    .slice(0, 3)
    .map(({ name }): PlannedCall => ({ name: 'list_dir', args: { path: name } }));
  const why = `${inlineCode(path)} may be in one of the usual folders; I look there.`;
  return folders.length > 0 && !evidence.seenFiles().some((seen) => folderOf(seen) !== '')
    ? { calls: folders, why: [why] }
    : NOTHING_TO_DO;
}

/** The file that a path means: itself, or one of the same name that a listing has shown. */
export function resolvePath(path: string, evidence: Evidence): string {
  const trouble = evidence.readingTrouble(path);
  if (trouble?.kind !== 'failed' || !isMissing(trouble.error)) return path;
  const seen = evidence.seenFiles().filter((other) => plainPath(other) !== plainPath(path));
  const name = baseName(path).toLowerCase();
  const root = name.replace(/\.[^.]*$/, '');
  return (
    seen.find((other) => baseName(other).toLowerCase() === name) ??
    seen.find((other) => baseName(other).toLowerCase().replace(/\.[^.]*$/, '') === root) ??
    path
  );
}

function isMissing(error: string): boolean {
  return /not (be )?found|no such|does not exist|doesn't exist|ENOENT|missing/i.test(error);
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : plainPath(path.slice(0, slash));
}
