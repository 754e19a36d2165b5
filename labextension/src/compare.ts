import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { duration, type ICurve, known, number, panel, plot } from '../../nbddp/widget/static/run.js';
import type { IRun, Server } from './api';
import { button, make } from './elements';
import type { RunList } from './runList';
import { differing, filtered, type IRow, measures, sorted, type Value } from './table';

const MOST = 6; // runs in one chart: there are as many colours

/** Runs that have ended beside each other: a table to sort and to search, and the chosen ones in one chart. */
export class CompareRuns extends Widget {
  constructor(
    private readonly _list: RunList,
    private readonly _server: Server,
    private readonly _trans: TranslationBundle,
    private readonly _open: (run: IRun) => void,
    remove: (runs: readonly IRun[]) => void
  ) {
    super();
    this.id = 'nbddp-compare';
    this.addClass('nbddp-compare');
    this.title.label = this._trans.__('DDP runs compared');
    this.title.closable = true;
    this._search.placeholder = this._trans.__('Search');
    this._search.setAttribute('aria-label', this._trans.__('Search'));
    this._search.addEventListener('input', () => this._draw());
    this._measure.setAttribute('aria-label', this._trans.__('Measure'));
    this._measure.addEventListener('change', () => this._overlay());
    this._delete = button(_trans.__('Delete…'), 'jp-mod-styled', () => remove(this._marked()));
    const actions = make('div', { class: 'nbddp-actions' }, this._search, this._measure, this._delete);
    this.node.append(actions, this._table, this._chart);
    this._chart.append(this._panel.root);
    this._chart.hidden = this._panel.large = true;
    _list.changed.connect(this._draw, this);
    this._draw();
  }

  protected onActivateRequest(): void {
    this._search.focus();
  }

  private _draw(): void {
    const runs = this._list.runs.filter(run => run.summary);
    const there = new Set(runs.map(keyOf));
    if ([...this._chosen.keys()].filter(key => !there.has(key)).map(key => this._chosen.delete(key)).length) {
      this._overlay(); // one was deleted
    }
    this._delete.disabled = !this._chosen.size;
    const focused = (document.activeElement as HTMLElement | null)?.dataset.key;
    const { heads, rows } = this._rows(runs);
    const head = heads.map((text, at) => this._head(text, at));
    const shown = filtered(sorted(rows, this._by, this._down), this._search.value);
    const body = shown.map(row => this._row(row, runs.find(run => run.name === row.name && run.folder === row.folder)!));
    const empty = make('p', {}, this._trans.__('No run of this folder has ended yet.'));
    const table = make('table', {}, make('thead', {}, make('tr', {}, make('th'), ...head)), make('tbody', {}, ...body));
    this._table.replaceChildren(runs.length ? table : empty);
    this._table.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused ?? '')}"]`)?.focus();
  }

  private _rows(runs: readonly IRun[]): { heads: string[]; rows: IRow[] } {
    const { _trans: trans } = this;
    const all = runs.map(run => run.summary!);
    const [parameters, numbers] = [differing(all), measures(all)];
    const heads = [trans.__('Run'), trans.__('State'), trans.__('Duration'), trans.__('Processes'), trans.__('Steps/s'), trans.__('Samples/s')];
    heads.push(...parameters, ...numbers.flatMap(name => [name, trans.__('%1, best', name)]));
    const rows = runs.map(({ name, folder, title, note, label, summary }) => {
      const { seconds, processes, steps_per_second: pace, samples_per_second: samples, last, best } = summary!;
      const own = parameters.map(one => plain(summary!.parameters[one]));
      const found = numbers.flatMap(one => [last[one] ?? null, best[one] ?? null]);
      return { name, folder, said: `${title} ${note}`, values: [name, known(label), seconds, processes, pace, samples, ...own, ...found] };
    });
    return { heads, rows };
  }

  private _head(text: string, at: number): HTMLElement {
    const sort = button(text, 'nbddp-sort', () => {
      this._down = this._by === at && !this._down;
      this._by = at;
      this._draw();
    });
    sort.dataset.key = `head ${at}`;
    return make('th', { 'aria-sort': this._by !== at ? 'none' : this._down ? 'descending' : 'ascending' }, sort);
  }

  private _row(row: IRow, run: IRun): HTMLElement {
    const key = keyOf(run);
    const check = make('input', { type: 'checkbox', 'aria-label': this._trans.__('Show %1 in the chart', row.name) });
    check.dataset.key = key;
    check.checked = this._chosen.has(key);
    check.addEventListener('change', () => void this._choose(key, run, check.checked));
    const fields = row.values.map((value, at) => make('td', {}, said(value, at)));
    const open = button(run.title || run.name, 'nbddp-link', () => this._open(run));
    open.dataset.key = `open ${key}`;
    fields[0].replaceChildren(open, ...(run.note ? [make('small', {}, run.note)] : []));
    const reason = run.summary!.failure;
    if (reason) {
      fields[1].title = reason;
      fields[1].append(make('small', {}, reason));
    }
    const line = make('tr', {}, make('td', {}, check), ...fields);
    line.dataset.tone = run.tone;
    return line;
  }

  private async _choose(key: string, run: IRun, wanted: boolean): Promise<void> {
    this._chosen.delete(key);
    if (wanted && this._chosen.size < MOST) {
      const where = { folder: run.folder, name: run.name };
      const { series } = await this._server.get<{ series: Record<string, ICurve> }>('run', where);
      this._chosen.set(key, { name: run.title || run.name, curves: Object.values(series) });
    }
    const names = [...this._chosen.values()].flatMap(({ curves }) => curves.map(title));
    const before = this._measure.value;
    this._measure.replaceChildren(...[...new Set(names)].map(name => make('option', { value: name }, name)));
    this._measure.value = names.includes(before) ? before : (names.find(name => /epoch/.test(name)) ?? names[0] ?? '');
    this._draw();
    this._overlay();
  }

  private _overlay(): void {
    const all = [...this._chosen.values()].flatMap(({ name, curves }) =>
      curves.filter(curve => title(curve) === this._measure.value).map(curve => ({ ...curve, name }))
    );
    this._chart.hidden = !all.length;
    if (all.length) {
      plot(this._panel, all);
    }
  }

  protected onResize(): void {
    this._overlay();
  }

  private _marked(): IRun[] {
    return this._list.runs.filter(run => this._chosen.has(keyOf(run)));
  }

  private readonly _delete: HTMLButtonElement;
  private readonly _search = make('input', { type: 'search', class: 'jp-mod-styled' });
  private readonly _measure = make('select', { class: 'jp-mod-styled' });
  private readonly _table = make('div', { class: 'nbddp-table', tabindex: '0' });
  private readonly _chart = make('div', { class: 'nbddp nbddp-overlay' });
  private readonly _panel = panel();
  private readonly _chosen = new Map<string, { name: string; curves: ICurve[] }>();
  private _by = 0;
  private _down = true;
}

const keyOf = ({ folder, name }: IRun) => `${folder}/${name}`;
const title = ({ name, x }: ICurve) => `${name} / ${known(x)}`;
const plain = (value: unknown): Value => (value === undefined ? null : typeof value === 'number' ? value : String(value));

/** The third column is a duration; other numbers have as many digits as a person reads. */
function said(value: Value, column: number): string {
  return value === null ? '' : typeof value === 'string' ? value : column === 2 ? duration(value) : number(value);
}
