import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { make } from './elements';
import { type IScriptLine, type ISection, type IStretch, type Place, sectionKey, stretches } from './lines';

const SIGNS = { ' ': '', '+': 'added', '~': 'changed' };

export interface ICodeWords {
  added: string;
  changed: string;
  goTo: (place: Place) => string;
}

/** Sections are folded but for those that are open; that is kept from script to script. */
export interface IFolds {
  sections: readonly ISection[];
  open: Set<string>;
  summary: (stretch: IStretch & { section: ISection }) => string;
}

/** The lines of a script as Python is coloured elsewhere, each with a sign and a way to its cell. */
export async function drawLines(
  languages: IEditorLanguageRegistry | null,
  lines: readonly IScriptLine[],
  words: ICodeWords,
  go: ((place: Place) => void) | null,
  folds: IFolds | null = null
): Promise<HTMLElement> {
  const coloured = await colour(languages, lines.map(line => line.text).join('\n'));
  const rows = new Map(lines.map((line, at) => [line, drawLine(line, coloured[at] ?? [line.text], words, go)]));
  const drawn = stretches(lines, folds?.sections ?? []).flatMap(stretch => {
    const own = stretch.lines.map(line => rows.get(line)!);
    return folds && stretch.section ? [fold({ ...stretch, section: stretch.section }, own, folds)] : own;
  });
  return make('div', { class: 'nbddp-lines' }, ...drawn);
}

function drawLine(
  line: IScriptLine,
  text: ReadonlyArray<Node | string>,
  words: ICodeWords,
  go: ((place: Place) => void) | null
): HTMLElement {
  const row = make('div', { class: 'nbddp-line', 'data-sign': SIGNS[line.sign] });
  const { place } = line;
  if (place) {
    row.dataset.cell = String(place[0]);
    row.dataset.line = String(place[1]);
    row.addEventListener('click', event => {
      if (go && (isButton(event.target) || window.getSelection()?.isCollapsed !== false)) {
        go(place); // anywhere in the line, but not at the end of marking text in it
      }
    });
  }
  row.append(link(line, words, go), sign(line, words), make('code', {}, ...text));
  return row;
}

function isButton(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('button') !== null;
}

/** A button that says what is folded, and the lines, shown where it is open. */
function fold(stretch: IStretch & { section: ISection }, rows: HTMLElement[], folds: IFolds): HTMLElement {
  const key = sectionKey(stretch.section);
  const inside = make('div', {}, ...rows);
  const toggle = make('button', { type: 'button', class: 'nbddp-fold' }, folds.summary(stretch));
  toggle.tabIndex = -1;
  const show = () => {
    inside.hidden = !folds.open.has(key);
    toggle.setAttribute('aria-expanded', String(!inside.hidden));
  };
  toggle.addEventListener('click', () => {
    folds.open.delete(key) || folds.open.add(key);
    show();
  });
  show();
  return make('div', { class: 'nbddp-section', 'data-kind': stretch.section.kind }, toggle, inside);
}

function sign(line: IScriptLine, words: ICodeWords): HTMLElement {
  const said = { ' ': '', '+': words.added, '~': words.changed }[line.sign];
  const shown = make('span', { class: 'nbddp-sign' }, line.sign === ' ' ? '' : line.sign);
  if (said) {
    shown.title = said;
    shown.setAttribute('role', 'img');
    shown.setAttribute('aria-label', said);
  }
  return shown;
}

function link(line: IScriptLine, words: ICodeWords, go: ((place: Place) => void) | null): HTMLElement {
  const place = line.place;
  if (!place || !go) {
    return make('span', { class: 'nbddp-place' }, place ? place.join(':') : '');
  }
  const to = make('button', { type: 'button', class: 'nbddp-place', 'aria-label': words.goTo(place) }, place.join(':'));
  to.tabIndex = -1; // one stop for all lines: the arrow keys walk them; a click is the line's
  return to;
}

/** Text and coloured pieces, cut at the line ends. */
async function colour(languages: IEditorLanguageRegistry | null, text: string): Promise<Node[][]> {
  if (!languages) {
    return [];
  }
  const drawn = document.createElement('div');
  const python = await languages.getLanguage('python');
  await languages.highlight(text, python, drawn);
  const lines: Node[][] = [[]];
  for (const node of Array.from(drawn.childNodes)) {
    const className = node instanceof HTMLElement ? node.className : '';
    (node.textContent ?? '').split('\n').forEach((piece, at) => {
      if (at) {
        lines.push([]);
      }
      if (piece) {
        const shown = className ? make('span', { class: className }, piece) : document.createTextNode(piece);
        lines[lines.length - 1].push(shown);
      }
    });
  }
  return lines;
}
