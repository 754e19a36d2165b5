import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { duration } from '../../nbddp/widget/static/run.js';
import type { IRun, Server } from './api';
import { button, make, say } from './elements';
import { LiveRun } from './liveRun';
import { inWords, type RunList } from './runList';

const NARROW = 640; // pixels

export interface IRunActions {
  openScript: (run: IRun) => void;
  openLog: (run: IRun) => void;
  attach: (run: IRun) => void;
  compare: () => void;
  describe: (run: IRun) => void;
  resume: (run: IRun) => void;
  remove: (runs: readonly IRun[]) => void;
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
    if (!this._isChosen(run) || !this._live) {
      this._chosen = run;
      this._live?.dispose();
      const host = make('div');
      const open = () => this._actions.openScript(run);
      const failed = (sentence: string) => host.replaceChildren(sentence);
      this._shown.replaceChildren(this._bar, this._note, host);
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
    if (this._chosen && !runs.some(run => this._isChosen(run))) {
      this._chosen = null; // it was deleted
      this._live?.dispose();
      this._live = null;
      this._shown.replaceChildren();
    }
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
    this._chosen = runs.find(run => this._isChosen(run))!; // as it is by now
    this._offer(this._chosen);
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
    row.setAttribute('role', 'option');
    row.setAttribute('aria-selected', String(this._isChosen(run)));
    row.dataset.tone = run.tone;
    row.replaceChildren(make('b', {}, run.title || run.name), make('span', {}, inWords(run, duration)));
    const where = [run.folder, ...(run.title ? [run.name] : [])].filter(part => part).join('/');
    if (where) {
      row.append(make('small', {}, where));
    }
    if (!run.over && run.progress !== null) {
      row.append(make('progress', { max: '1', value: String(run.progress), 'aria-label': this._trans.__('Progress') }));
    }
    return row;
  }

  /** What can be done with the chosen run; buttons that are there stay, so that none loses the focus. */
  private _offer(run: IRun): void {
    const { _trans: trans, _actions: actions } = this;
    say(this._note, run.note);
    const key = JSON.stringify([run.folder, run.name, run.checkpoint, run.over, run.title, run.note]);
    if (this._bar.dataset.key === key) {
      return;
    }
    const focused = this._bar.contains(document.activeElement) ? document.activeElement!.textContent : null;
    this._bar.dataset.key = key;
    const offer = (text: string, act: (run: IRun) => void) => button(text, 'jp-mod-styled', () => act(run));
    this._bar.replaceChildren(
      offer(trans.__('Open script'), actions.openScript),
      offer(trans.__('Open log'), actions.openLog),
      offer(trans.__('Attach in a notebook'), actions.attach),
      ...(run.checkpoint && run.over ? [offer(trans.__('Resume…'), actions.resume)] : []),
      offer(trans.__('Title and note…'), actions.describe),
      ...(run.over ? [offer(trans.__('Delete…'), () => actions.remove([run]))] : []),
      offer(trans.__('Compare runs'), actions.compare)
    );
    Array.from(this._bar.querySelectorAll('button')).find(one => one.textContent === focused)?.focus();
  }

  private _isChosen(run: IRun): boolean {
    return run.name === this._chosen?.name && run.folder === this._chosen.folder;
  }

  private _walk(event: KeyboardEvent): void {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const at = this._list.runs.findIndex(run => this._isChosen(run));
    const next = by ? this._list.runs[at + by] : undefined;
    if (next) {
      this.choose(next);
      event.preventDefault();
    }
  }

  private readonly _rows = make('div', { class: 'nbddp-run-list' });
  private readonly _shown = make('div', { class: 'nbddp-run-shown', role: 'region' });
  private readonly _bar = make('div', { class: 'nbddp-actions' });
  private readonly _note = make('p', { class: 'nbddp-note' });
  private readonly _known = new Map<string, HTMLElement>();
  private _chosen: IRun | null = null;
  private _live: LiveRun | null = null;
}
