/** One wording to search for. */
export interface Query {
  readonly text: string;
  readonly ignoreCase: boolean;
}

/** Read a file; with topics, what it says about them. */
export interface ReadIntent {
  readonly kind: 'read';
  readonly path: string;
  /** The line the question points at. */
  readonly line: number | null;
  readonly topics: readonly string[];
  /** Whether the number of its lines is asked. */
  readonly countLines: boolean;
}

/** Find where something stands; with `explain`, also read around the best places. */
export interface SearchIntent {
  readonly kind: 'search';
  /** Tried in order until one is found. */
  readonly queries: readonly Query[];
  readonly path: string | null;
  readonly explain: boolean;
}

/** Say what is in a folder; `null` is the one the tools start in. */
export interface ListIntent {
  readonly kind: 'list';
  readonly path: string | null;
}

/** Write a text, given word for word, to a file. */
export interface WriteIntent {
  readonly kind: 'write';
  readonly path: string;
  readonly content: string;
}

/** Write something that is only described: `write a summary to notes.md`. */
export interface DescribedIntent {
  readonly kind: 'described';
}

/** No rule fits: look around for the words of the question. */
export interface ExploreIntent {
  readonly kind: 'explore';
  readonly topics: readonly string[];
}

/** What a part of a question is after. */
export type Intent =
  | ReadIntent
  | SearchIntent
  | ListIntent
  | WriteIntent
  | DescribedIntent
  | ExploreIntent
  | { readonly kind: 'greeting' }
  /** Nothing in it can be looked for: `what is 2+2?`. */
  | { readonly kind: 'beyond' }
  | { readonly kind: 'capabilities' };

/** One part of a question, in the user's words and as the rules read it. */
export interface QuestionPart {
  readonly text: string;
  readonly intent: Intent;
}

/** A question as the rules read it. */
export interface Question {
  readonly parts: readonly QuestionPart[];
  /** Parts beyond the ones that are looked at. */
  readonly dropped: number;
}
