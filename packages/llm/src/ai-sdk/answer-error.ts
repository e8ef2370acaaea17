/** An answer of a server that cannot be read as the stream that was asked for. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
  /** The error that the server told in its place; `undefined` when it told none. */
  readonly told: unknown;

  constructor(message: string, told?: unknown) {
    super(message);
    this.told = told;
  }
}
