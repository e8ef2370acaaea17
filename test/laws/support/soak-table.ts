/** What the process of a soak held at a moment. */
export interface Look {
  readonly turns: number;
  readonly rows: number;
  /** Bytes of live objects. */
  readonly heap: number;
  readonly descriptors: number;
  readonly resources: number;
  /** The most listeners that a turn left behind by then. */
  readonly left: number;
}

/** What the rows of the whole log cost by themselves, in bytes. */
export interface Control {
  readonly rows: number;
  readonly rowsAndMessages: number;
  /** The rows let go of. */
  readonly messages: number;
}

/** What was seen while turns ran. */
export interface Watched {
  /** The most listeners on the shared signal at any moment. */
  listeners: number;
  /** The most messages of a request. */
  messages: number;
  /** How many turns ended so. */
  readonly outcomes: Record<string, number>;
}

/** What the process of a soak tells. */
export interface SoakReport {
  readonly looks: readonly Look[];
  readonly control: Control;
  /** Whether its garbage was really collected. */
  readonly collected: boolean;
  readonly watched: Watched;
}

const megabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(2);

/** The figures as a table in Markdown; `held` is the part of the control that the log keeps. */
export function soakTable(where: string, report: SoakReport, held: keyof Control): string {
  const { looks, control, watched } = report;
  const first = looks[0]?.heap ?? 0;
  const rows = looks.at(-1)?.rows ?? 1;
  const lines = looks.map((look) => {
    const grown = look.heap - first;
    const own = control[held] * (look.rows / rows);
    const ratio = own === 0 ? '' : (grown / own).toFixed(2);
    const bytes = [look.heap, grown, own].map(megabytes);
    const cells = [look.turns, look.rows, ...bytes, ratio, look.left, look.descriptors];
    return cells.map(String).join(' | ');
  });
  const sizes = 'heap, MB | grown, MB | the log alone, MB | ratio';
  const head = `turns | rows | ${sizes} | listeners left | open files`;
  const most = [
    `${where}; ${JSON.stringify(watched.outcomes)};`,
    `at most ${String(watched.listeners)} listener on the shared signal`,
    `and ${String(watched.messages)} messages a request`,
  ].join(' ');
  const rule = head.replaceAll(/[^|]+/g, ' --- ').trim();
  return [most, '', ...[head, rule, ...lines].map((line) => `| ${line} |`)].join('\n');
}
