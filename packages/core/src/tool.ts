/** What a model is told of a tool. `parameters` is a JSON Schema of its arguments. */
export interface ToolSpec {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

/** One call as it reaches a registry. */
export interface ToolInput {
  call_id: string;
  name: string;
  args: unknown;
}

/** What a guard says of a call. */
export type ToolDecision =
  | { kind: 'allow' }
  | { kind: 'deny'; reason: string }
  | { kind: 'ask'; reason: string };

/** What came of one call. */
export interface ToolOutput {
  call_id: string;
  /** The canonical, machine-readable result. */
  value: unknown;
  /** A form for people alone; the model never sees it. */
  render: string | null;
  /** Why it failed, or `null` when it did not. */
  error: string | null;
  /** The guards' verdict, or `null` when nobody was asked. */
  decision: ToolDecision | null;
  /** How the model is to see `value`, when not as it is (X12). */
  surface?: ToolSurface;
  /** Set when the call had started and nobody waits for its result any more (X17). */
  abandoned?: true;
}

/** The middle of a text result was left out of the model's view and kept elsewhere (X12). */
export interface OmittedSurface {
  kind: 'omitted';
  /** UTF-8 bytes left out. */
  omitted_bytes: number;
  /** UTF-8 bytes of the whole result. */
  total_bytes: number;
  /** Where the whole result can be found. */
  locator: string;
  /** How to get at it, in words for the model. */
  retrieval_hint: string;
  /** UTF-8 bytes kept at the start. */
  head_bytes: number;
  /** UTF-8 bytes kept at the end. */
  tail_bytes: number;
}

/** A tool cut its own result and says so (X12). */
export interface TruncationSurface {
  kind: 'truncation';
  note: string;
}

/** How the model sees a result; one of an unknown kind is kept and not rendered. */
export type ToolSurface = OmittedSurface | TruncationSurface | Record<string, unknown>;

/** What {@link Tool.executeWith} gives back. */
export interface ToolExecOutcome {
  value: unknown;
  render: string | null;
  surface?: ToolSurface;
}

/** What a running tool is handed besides its arguments. */
export interface ToolCallOptions {
  /** Aborts when nobody waits for the result any more. */
  signal?: AbortSignal;
}

/** One tool. A failure is a throw; the registry turns it into an error result. */
export interface Tool {
  /**
   * Set by who wrote the tool when it changes nothing, wherever: a guard may let it pass for that.
   * It is no part of the spec, which the model sees, and never what somebody else says of it.
   */
  readonly readOnly?: true;
  spec(): ToolSpec;
  execute(args: unknown, options?: ToolCallOptions): Promise<unknown>;
  /** Preferred over `execute` where present: knows its call id and may render for people. */
  executeWith?(input: ToolInput, options?: ToolCallOptions): Promise<ToolExecOutcome>;
}

/** Decides before a tool runs. The first verdict that is not `allow` ends the chain (C3.6). */
export interface ToolGuard {
  check(input: ToolInput): Promise<ToolDecision>;
}

/**
 * The tool seam. `dispatch` runs the guards, then the tool; a tool's failure comes back in
 * `error`, never as a throw (C3.7).
 */
export interface ToolRegistry {
  register(tool: Tool): void;
  addGuard(guard: ToolGuard): void;
  get(name: string): Tool | undefined;
  schemas(): ToolSpec[];
  dispatch(input: ToolInput, options?: ToolCallOptions): Promise<ToolOutput>;
}
