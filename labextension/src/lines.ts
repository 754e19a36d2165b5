// Which lines of a script are the notebook's own. No imports: plain functions of plain values.

export type Place = [number, number]; // number of the cell, line in it; both from 1

export interface IScriptLine {
  text: string;
  place: Place | null;
  sign: ' ' | '+' | '~'; // as in the cell but for its indent, added, changed
}

/** A stretch of lines that no cell has written. */
export interface ISection {
  kind: 'header' | 'imports' | 'helpers';
  title: string;
  first: number; // both from 1
  last: number;
}

/** A line by itself, or the lines of a section. */
export interface IStretch {
  section: ISection | null;
  lines: IScriptLine[];
}

/** The script's lines in their order, those of a section together. */
export function stretches(lines: readonly IScriptLine[], sections: readonly ISection[]): IStretch[] {
  const found: IStretch[] = [];
  lines.forEach((line, at) => {
    const section = sections.find(one => one.first <= at + 1 && at + 1 <= one.last) ?? null;
    if (section && found[found.length - 1]?.section === section) {
      found[found.length - 1].lines.push(line);
    } else {
      found.push({ section, lines: [line] });
    }
  });
  return found;
}

/** By which a section is known in the next script, where it may have other lines. */
export function sectionKey({ kind, title }: ISection): string {
  return `${kind} ${title}`;
}

/** Each line of a script with where it comes from; `cells` holds the sources by number. */
export function scriptLines(
  script: string,
  places: ReadonlyArray<Place | null>,
  cells: ReadonlyMap<number, string>
): IScriptLine[] {
  const sources = new Map([...cells].map(([number, source]) => [number, source.split('\n')]));
  const imports = ownImports(sources);
  return script.replace(/\n$/, '').split('\n').map((text, at): IScriptLine => {
    const place = places[at] ?? imports.get(text) ?? null;
    if (!place) {
      return { text, place, sign: text.trim() ? '+' : ' ' };
    }
    const source = sources.get(place[0])?.[place[1] - 1] ?? '';
    return { text, place, sign: source.trim() === text.trim() ? ' ' : '~' };
  });
}

/** The script's imports are one block, made anew; a line that a cell has just so is that cell's. */
function ownImports(sources: ReadonlyMap<number, string[]>): Map<string, Place> {
  const found = new Map<string, Place>();
  for (const [number, lines] of sources) {
    lines.forEach((text, at) => {
      if (/^(import|from) /.test(text) && !found.has(text)) {
        found.set(text, [number, at + 1]);
      }
    });
  }
  return found;
}
