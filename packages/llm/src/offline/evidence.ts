import { serdeJsonString } from '@celestea/core';
import {
  isFields,
  readToolResult,
  type FailedResult,
  type FileResult,
  type FolderResult,
  type RawResult,
  type ToolResult,
  type WrittenResult,
} from './results.ts';

/** The tools the rules know. */
export type KnownTool = 'list_dir' | 'read_file' | 'search_text' | 'write_file';

/** A call the rules want; its arguments are plain JSON. */
export interface PlannedCall {
  readonly name: KnownTool;
  readonly args: Readonly<Record<string, string | number | boolean>>;
}

interface Row {
  readonly name: string;
  readonly path: string | null;
  readonly result: ToolResult;
}

/** A path as the rules compare it: no `./` in front, no `/` behind, the start folder is ''. */
export function plainPath(path: string): string {
  return path.replace(/^(\.\/+)+/, '').replace(/\/+$/, '').replace(/^\.$/, '');
}

/** What the tools have answered to the present question. */
export class Evidence {
  readonly #rows: Row[] = [];
  readonly #byCall = new Map<string, ToolResult>();

  /** Notes the answer to one call, `text` being the tool message's. Never throws. */
  add(name: string, args: unknown, text: string): void {
    const fields = isFields(args) ? args : {};
    const result = readToolResult(name, fields, text);
    const given = fields['path'];
    this.#rows.push({ name, path: typeof given === 'string' ? plainPath(given) : null, result });
    this.#byCall.set(keyOf(name, fields), result);
  }

  get size(): number {
    return this.#rows.length;
  }

  /** The answer to exactly this call. */
  resultOf(call: PlannedCall): ToolResult | undefined {
    return this.#byCall.get(keyOf(call.name, call.args));
  }

  /** What has been read of a file, in the order of its lines. */
  piecesOf(path: string): FileResult[] {
    const wanted = plainPath(path);
    const pieces: FileResult[] = [];
    for (const { path: asked, result } of this.#rows) {
      if (result.kind !== 'file') continue;
      if (asked === wanted || plainPath(result.path) === wanted) pieces.push(result);
    }
    return pieces.sort((a, b) => a.firstLine - b.firstLine);
  }

  /** What came instead of a file: the last failure, or a result of no known shape. */
  readingTrouble(path: string): Exclude<ToolResult, FileResult> | undefined {
    const wanted = plainPath(path);
    for (const { name, path: asked, result } of this.#rows.toReversed()) {
      if (name === 'read_file' && asked === wanted && result.kind !== 'file') return result;
    }
    return undefined;
  }

  /** What is in a folder, or why nobody knows; `undefined` when it was not asked. */
  folder(path: string | null): FolderResult | FailedResult | RawResult | undefined {
    const wanted = plainPath(path ?? '');
    for (const { name, path: asked, result } of this.#rows.toReversed()) {
      if (name !== 'list_dir' || (asked ?? '') !== wanted) continue;
      if (result.kind === 'folder' || result.kind === 'failed' || result.kind === 'raw') {
        return result;
      }
    }
    return undefined;
  }

  /** What the last write brought; `undefined` when there was none. */
  written(): WrittenResult | FailedResult | RawResult | undefined {
    for (const { name, result } of this.#rows.toReversed()) {
      if (name !== 'write_file') continue;
      if (result.kind === 'written' || result.kind === 'failed' || result.kind === 'raw') {
        return result;
      }
    }
    return undefined;
  }

  /** The paths of all files that a listing has shown. */
  seenFiles(): string[] {
    const paths: string[] = [];
    for (const { name, path, result } of this.#rows) {
      if (name !== 'list_dir' || result.kind !== 'folder') continue;
      const folder = path === null || path === '' ? '' : `${path}/`;
      for (const entry of result.entries) {
        if (!entry.isFolder) paths.push(`${folder}${entry.name}`);
      }
    }
    return [...new Set(paths)];
  }
}

function keyOf(name: string, args: Readonly<Record<string, unknown>>): string {
  const path = args['path'];
  const same = typeof path === 'string' ? { ...args, path: plainPath(path) } : args;
  return `${name} ${serdeJsonString(same)}`;
}
