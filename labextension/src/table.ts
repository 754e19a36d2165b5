// Runs as a table: which columns there are, in which order rows stand. No imports: plain functions of plain values.

export type Value = number | string | null;

export interface ISummary {
  processes: number | null;
  seconds: number | null;
  steps_per_second: number | null;
  samples_per_second: number | null;
  parameters: Record<string, unknown>;
  last: Record<string, number>;
  best: Record<string, number>;
  failure: string;
}

export interface IRow {
  name: string;
  folder: string;
  said: string; // about it, by a person
  values: Value[];
}

/** Names of parameters that are not the same in all of these runs. */
export function differing(all: readonly ISummary[]): string[] {
  const names = new Set(all.flatMap(one => Object.keys(one.parameters)));
  return [...names].filter(name => new Set(all.map(one => JSON.stringify(one.parameters[name]))).size > 1).sort();
}

/** Names of numbers that some of the runs have, those that most have first. */
export function measures(all: readonly ISummary[]): string[] {
  const counts = new Map<string, number>();
  for (const one of all) {
    for (const name of Object.keys(one.last)) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)! || (a < b ? -1 : 1));
}

/** By one column; what has no value stands at the end, whichever way round. */
export function sorted(rows: readonly IRow[], column: number, down: boolean): IRow[] {
  const sign = down ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [a, b] = [one.values[column], other.values[column]];
    if (a === null || b === null) {
      return a === b ? 0 : a === null ? 1 : -1;
    }
    const order = typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));
    return sign * order;
  });
}

/** Rows in which each of the words stands somewhere. */
export function filtered(rows: readonly IRow[], text: string): IRow[] {
  const words = text.toLowerCase().split(/\s+/);
  const all = (row: IRow) => [row.folder, row.said, ...row.values].join(' ').toLowerCase();
  return rows.filter(row => words.every(word => all(row).includes(word)));
}
