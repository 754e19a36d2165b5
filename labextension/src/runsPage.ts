import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { duration } from '../../nbddp/widget/static/run.js';
import type { IRun, Server } from './api';
import { button, make } from './elements';
import { LiveRun } from './liveRun';
import { inWords, type RunList } from './runList';

const NARROW = 640; // pixels

export interface IRunActions {
  openScript: (run: IRun) => void;
  openLog: (run: IRun) => void;
  attach: (run: IRun) => void;
  compare: () => void;
}

/** All runs of the folders in sight: a list, and the one that is chosen, live. */
export class RunsPage extends Widget {
  constructor(
    private readonly _list: RunList,
    private readonly _server: Server,
    private readonly _actions: IRunActions,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.id = 'nbddp-runs';
    this.addClass('nbddp-runs');
    this.title.label = this._trans.__('DDP runs');
    this.title.closable = true;
    this._rows.setAttribute('aria-label', this._trans.__('Runs'));
    this._shown.setAttribute('aria-label', this._trans.__('The chosen run'));
    this.node.append(this._rows, this._shown);
    this._rows.addEventListener('keydown', event => this._walk(event));
    _list.changed.connect(this._draw, this);
    this._draw();
    void _list.refresh();
  }

  get chosen(): IRun | null {
    return this._chosen;
  }

  choose(run: IRun): void {
    if (this._chosen?.name !== run.name || this._chosen.folder !== run.folder || !this._live) {
      this._chosen = run;
      this._live?.dispose();
      const host = make('div');
      const open = () => this._actions.openScript(run);
      const failed = (sentence: string) => host.replaceChildren(sentence);
      this._shown.replaceChildren(this._buttons(run), host);
      this._live = new LiveRun(this._server, host, run.folder, run.name, open, failed);
    }
    this._draw();
  }

  /** Up and down from run to run at once, by who has come here by keys. */
  protected onActivateRequest(): void {
    this._rows.querySelector<HTMLElement>('[aria-selected="true"]')?.focus();
  }

  /** In a sidebar the list stands above the run, not beside it. */
  protected onResize(): void {
    this.toggleClass('nbddp-narrow', this.node.clientWidth < NARROW);
  }

  dispose(): void {
    this._live?.dispose();
    super.dispose();
  }

  private _draw(): void {
    const runs = this._list.runs;
    this._rows.setAttribute('role', runs.length ? 'listbox' : 'group');
    if (!runs.length) {
      const text = this._list.visible
        ? this._trans.__('No runs in this folder yet: run a cell with %1.', '%%ddp_train')
        : this._trans.__('The server has no nbddp and cannot see runs: "%ddp runs" in a notebook lists them.');
      this._rows.replaceChildren(make('p', {}, text));
      return;
    }
    if (!this._chosen) {
      this._chosen = runs[0];
      this.choose(runs[0]);
      return;
    }
    const focused = this._rows.contains(document.activeElement) || document.activeElement === this.node;
    const rows = runs.map(run => this._row(run));
    if (rows.length !== this._rows.children.length || rows.some((row, at) => row !== this._rows.children[at])) {
      this._rows.replaceChildren(...rows);
    }
    const entry = rows.find(row => row.getAttribute('aria-selected') === 'true') ?? rows[0];
    rows.forEach(row => (row.tabIndex = row === entry ? 0 : -1));
    if (focused) {
      entry.focus();
    }
  }

  /** A row that is there stays, so that no click or focus is lost while a run goes on. */
  private _row(run: IRun): HTMLElement {
    const key = `${run.folder}/${run.name}`;
    const row = this._known.get(key) ?? button('', 'nbddp-run', () => this.choose(run));
    this._known.set(key, row);
    const chosen = run.name === this._chosen?.name && run.folder === this._chosen.folder;
    row.setAttribute('role', 'option');
    row.setAttribute('aria-selected', String(chosen));
    row.dataset.tone = run.tone;
    row.replaceChildren(make('b', {}, run.name), make('span', {}, inWords(run, duration)));
    if (run.folder) {
      row.append(make('small', {}, run.folder));
    }
    if (!run.over && run.progress !== null) {
      row.append(make('progress', { max: '1', value: String(run.progress), 'aria-label': this._trans.__('Progress') }));
    }
    return row;
  }

  private _buttons(run: IRun): HTMLElement {
    const { openScript, openLog, attach, compare } = this._actions;
    return make(
      'div',
      { class: 'nbddp-actions' },
      button(this._trans.__('Open script'), 'jp-mod-styled', () => openScript(run)),
      button(this._trans.__('Open log'), 'jp-mod-styled', () => openLog(run)),
      button(this._trans.__('Attach in a notebook'), 'jp-mod-styled', () => attach(run)),
      button(this._trans.__('Compare runs'), 'jp-mod-styled', compare)
    );
  }

  private _walk(event: KeyboardEvent): void {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const at = this._list.runs.findIndex(
      run => run.name === this._chosen?.name && run.folder === this._chosen.folder
    );
    const next = by ? this._list.runs[at + by] : undefined;
    if (next) {
      this.choose(next);
      event.preventDefault();
    }
  }

  private readonly _rows = make('div', { class: 'nbddp-run-list' });
  private readonly _shown = make('div', { class: 'nbddp-run-shown', role: 'region' });
  private readonly _known = new Map<string, HTMLElement>();
  private _chosen: IRun | null = null;
  private _live: LiveRun | null = null;
}
