import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { make } from './elements';
import type { IScriptLine, Place } from './lines';

const SIGNS = { ' ': '', '+': 'added', '~': 'changed' };

export interface ICodeWords {
  added: string;
  changed: string;
  goTo: (place: Place) => string;
}

/** The lines of a script as Python is coloured elsewhere, each with a sign and a way to its cell. */
export async function drawLines(
  languages: IEditorLanguageRegistry | null,
  lines: readonly IScriptLine[],
  words: ICodeWords,
  go: ((place: Place) => void) | null
): Promise<HTMLElement> {
  const coloured = await colour(languages, lines.map(line => line.text).join('\n'));
  const rows = lines.map((line, at) => {
    const code = make('code', {}, ...(coloured[at] ?? [line.text]));
    const row = make('div', { class: 'nbddp-line', 'data-sign': SIGNS[line.sign] });
    if (line.place) {
      row.dataset.cell = String(line.place[0]);
      row.dataset.line = String(line.place[1]);
    }
    row.append(link(line, words, go), sign(line, words), code);
    return row;
  });
  return make('div', { class: 'nbddp-lines' }, ...rows);
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
  to.tabIndex = -1; // one stop for all lines: the arrow keys walk them
  to.addEventListener('click', () => go(place));
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
