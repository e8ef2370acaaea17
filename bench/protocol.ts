/** What one run gave, by name: milliseconds unless the name says otherwise. */
export type Figures = Record<string, number>;

/** What the runner asks of a worker: one run. */
export interface Order {
  readonly case: string;
  readonly parameters: Figures;
}

export type Answer = { ok: true; figures: Figures } | { ok: false; message: string };
