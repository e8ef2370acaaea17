/**
 * Why no model could be set up from the environment: a missing or unusable key, a package that
 * is not installed, a server that names no model. Its message is for people, and holds no key.
 */
export class LlmSetupError extends Error {
  override readonly name = 'LlmSetupError';
  /** The command that installs what is missing; `null` when no package is. */
  readonly install: string | null;

  constructor(message: string, install: string | null = null) {
    super(message);
    this.install = install;
  }
}
