import type { LlmFromEnvOptions, NamedLlm } from '@celestea/llm';

/** What a host may put in place of the command's own parts. */
export interface CliParts {
  /** Answers, whatever the command line and the environment say. */
  readonly model?: NamedLlm;
  /** Finds the model that they name, in place of `llmFromEnv`; `null` is the offline one. */
  readonly findModel?: (options: LlmFromEnvOptions) => Promise<NamedLlm | null>;
}
