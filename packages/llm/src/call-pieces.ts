import { isRecord } from '@celestea/core';

import { tornError } from './ai-sdk/finish-reason.ts';
import { parseBody } from './ai-sdk/provider-words.ts';
import { repeatedId } from './ai-sdk/repeated-calls.ts';

/** What a piece of a call says; `null` for what it does not, or not in a way that can be used. */
interface Piece {
  readonly index: number | null;
  readonly id: string | null;
  readonly name: string | null;
  readonly args: string;
}

interface Call {
  /** The index of the piece that began it. */
  readonly index: number | null;
  /** What it is sent on with. No other call has the same. */
  readonly sent: { readonly index: number; readonly id: string | null };
  id: string | null;
  name: string | null;
  args: string;
  isNameSent: boolean;
  /** Whether its name came a second time: the call may be about to begin again. */
  isNamedAgain: boolean;
}

/**
 * Finds the call that each piece of one belongs to, whatever the server leaves out or repeats,
 * and sends it on under an index that no other call has.
 *
 * A call begins with a new id or a new name, and where the arguments of one that was named again
 * begin a second time. Any other piece belongs to the call of its id, or else to the call begun
 * last at its index; without an index, to the call begun last.
 */
export class CallPieces {
  /** The call begun last with each id. */
  readonly #byId = new Map<string, Call>();
  /** The call begun last at each index, and of all of them at `null`. */
  readonly #latest = new Map<number | null, Call>();
  readonly #taken = new Set<number>();
  readonly #calls: Call[] = [];
  #nextFree = 0;

  /**
   * What is sent on in place of the pieces of one frame.
   *
   * @throws LlmError (`stream`) when it cannot be known which call a piece belongs to
   */
  rewrite(pieces: readonly unknown[]): unknown[] {
    return pieces.flatMap((piece) => (isRecord(piece) ? this.#rewriteOne(piece) : [piece]));
  }

  /**
   * Looks at the calls once all pieces are there.
   *
   * @throws LlmError (`stream`) when the arguments of one may have gone to another
   */
  end(): void {
    const unplaced = this.#calls.filter(({ index }) => index === null);
    const isLost = ({ args }: Call): boolean => args.trim() === '';
    const isMixed = ({ args }: Call): boolean => args.trim() !== '' && parseBody(args) === undefined;
    if (unplaced.some(isLost) && unplaced.some(isMixed)) torn();
  }

  #rewriteOne(raw: Record<string, unknown>): unknown[] {
    const part = isRecord(raw['function']) ? raw['function'] : {};
    const piece: Piece = {
      index: indexOf(raw['index']),
      id: wordOf(raw['id']),
      name: wordOf(part['name']),
      args: typeof part['arguments'] === 'string' ? part['arguments'] : '',
    };
    const call = this.#callOf(piece);
    if (call === null) return [];
    // said a second time, they could begin another call
    const [id, name] = call.isNameSent ? [null, null] : [call.sent.id, call.name ?? piece.name];
    this.#add(call, piece);
    return [{ ...raw, index: call.sent.index, id, function: { ...part, name } }];
  }

  /** The call that a piece belongs to, begun when it is new; `null` for one that says nothing. */
  #callOf(piece: Piece): Call | null {
    const call = this.#find(piece);
    if (call === null) {
      if (piece.id !== null || piece.name !== null) return this.#begin(piece);
      return piece.args.trim() === '' ? null : torn();
    }
    if (isOther(call, piece)) return this.#begin(piece);
    if (!/^\s*\{/.test(piece.args) || !isWhole(call.args)) return call;
    const isOwn = piece.id !== null && piece.id === call.id;
    if (!isOwn && !call.isNamedAgain && piece.name === null) return torn();
    return this.#begin({ ...piece, id: piece.id ?? call.id, name: call.name });
  }

  #find({ index, id, name }: Piece): Call | null {
    const latest = this.#latest.get(index) ?? null;
    const own = id === null ? undefined : this.#byId.get(id);
    if (own === undefined || latest?.id === id) return latest;
    if (index === null || own.index === index) {
      // from here on, a piece without an id could be of the one or of the other
      this.#latest.delete(index);
      return own;
    }
    if (name !== null) return null; // the same id under another index
    if (latest !== null) return torn();
    this.#latest.set(index, own);
    return own;
  }

  #begin({ index: given, id, name }: Piece): Call {
    const isFree = given !== null && !this.#taken.has(given);
    const index = isFree ? given : this.#nextFree;
    this.#taken.add(index);
    this.#nextFree = Math.max(this.#nextFree, index + 1);
    const sentId = id !== null && this.#byId.has(id) ? repeatedId(id, index) : id;
    const call: Call = {
      index: given,
      sent: { index, id: sentId },
      id,
      name,
      args: '',
      isNameSent: false,
      isNamedAgain: false,
    };
    this.#calls.push(call);
    if (id !== null) this.#byId.set(id, call);
    if (given !== null) this.#latest.set(given, call);
    this.#latest.set(null, call);
    return call;
  }

  #add(call: Call, { id, name, args }: Piece): void {
    if (id !== null && call.id === null) this.#byId.set(id, call);
    call.id ??= id;
    call.isNamedAgain ||= call.isNameSent && name !== null;
    call.name ??= name;
    call.isNameSent ||= call.name !== null;
    call.args += args;
  }
}

/** Whether a piece says that it is of another call than the one it stands with. */
function isOther(call: Call, { index, id, name }: Piece): boolean {
  if (name !== null && call.name !== null && name !== call.name) return true;
  // there are servers that make up an id for each piece
  const isNewId = id !== null && call.id !== null && id !== call.id;
  return isNewId && (name !== null || index === null);
}

/** Whether arguments are there as a whole: nothing can follow them. */
const isWhole = (args: string): boolean => /\}\s*$/.test(args) && isRecord(parseBody(args));

function indexOf(value: unknown): number | null {
  const index = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : null;
}

const wordOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value : null;

function torn(): never {
  throw tornError('the stream has a piece of a tool call that may be of any or of none');
}
