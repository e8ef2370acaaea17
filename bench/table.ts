/** A table of the report. */
export interface Table {
  readonly title: string;
  /** What was measured and how, in a sentence or two. */
  readonly text: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export function renderTable({ title, text, columns, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = columns.map((_, index) => (index === 0 ? '---' : '---:'));
  return [`## ${title}`, '', text, '', line(columns), line(rule), ...rows.map(line), ''].join('\n');
}

/** Three significant figures; a dash for what was not measured. */
export function amount(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

/** How often the limit. */
export const times = (value: number, limit: number): string =>
  Number.isFinite(value / limit) ? `${amount(value / limit)}×` : '–';
