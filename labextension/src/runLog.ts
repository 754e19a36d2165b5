import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { type IRun, Refused, type Server } from './api';
import { button, make } from './elements';

const EVERY = 1000; // milliseconds
const MOST = 1 << 21; // characters of a log that are kept on the page
const NEAR = 24; // pixels above its end at which a reader still is at the end

interface IPiece {
  text: string;
  start: number; // bytes in the file
  end: number;
  over: boolean;
  ranks: number[];
}

/** What the ranks of a run print, each by itself: it grows with the log, and stays at the end while its reader is there. */
export class RunLog extends Widget {
  constructor(
    private readonly _server: Server,
    private readonly _trans: TranslationBundle,
    private readonly _run: IRun
  ) {
    super();
    this.id = `nbddp-text-${_run.folder}-${_run.name}-log`;
    this.addClass('nbddp-preview');
    this.title.label = this._trans.__('%1: log', _run.name);
    this.title.closable = true;
    this._body.setAttribute('aria-label', this.title.label);
    this._ranks = make('select', { class: 'jp-mod-styled', 'aria-label': this._trans.__('Rank') });
    this._offer([0, ..._run.ranks.map(({ rank }) => rank)]);
    this._ranks.addEventListener('change', () => this._anew());
    const again = button(this._trans.__('Refresh'), 'jp-mod-styled', () => this._anew());
    this.node.append(make('div', { class: 'nbddp-actions' }, this._ranks, again), this._body);
    this._anew();
  }

  chooseRank(rank: number): void {
    if (this._ranks.value !== String(rank)) {
      this._offer([rank]);
      this._ranks.value = String(rank);
      this._anew();
    }
  }

  dispose(): void {
    this._turn++;
    window.clearTimeout(this._timer);
    super.dispose();
  }

  /** Whoever has come here by keys goes on by keys. */
  protected onActivateRequest(): void {
    this._ranks.focus();
  }

  protected onCloseRequest(): void {
    this.dispose();
  }

  /** All of the chosen rank's log. */
  private _anew(): void {
    this._end = null;
    void this._read();
  }

  /** What has come since; again and again while the run goes on. Only the latest question counts: it is of the chosen rank. */
  private async _read(): Promise<void> {
    const turn = ++this._turn;
    window.clearTimeout(this._timer);
    const { folder, name } = this._run;
    const from: Record<string, string> = this._end === null ? {} : { start: String(this._end) };
    let over = false;
    try {
      const piece = await this._server.get<IPiece>('run/text', { folder, name, what: this._ranks.value, ...from });
      if (turn === this._turn) {
        over = piece.over;
        this._offer(piece.ranks);
        this._show(piece);
      }
    } catch (error) {
      over = error instanceof Refused && error.status === 404; // else it may be there the next time
      if (turn === this._turn && (over || this._end === null)) {
        this._end = null;
        const said = error instanceof Error ? error.message : String(error);
        this._body.replaceChildren(make('p', { class: 'nbddp-status' }, said));
      }
    }
    if (turn === this._turn && !over) {
      this._again();
    }
  }

  /** Nothing is asked for while nobody can see it. */
  private _again(): void {
    this._timer = window.setTimeout(() => {
      if (this.isVisible && !document.hidden) {
        void this._read();
      } else {
        this._again();
      }
    }, EVERY);
  }

  private _show(piece: IPiece): void {
    const { scrollHeight, scrollTop, clientHeight } = this._body;
    let follows = scrollHeight - scrollTop - clientHeight < NEAR;
    if (this._end !== piece.start) {
      follows ||= this._end === null;
      this._lines.replaceChildren();
      this._body.replaceChildren(this._lines);
    }
    this._end = piece.end;
    if (piece.text) {
      this._lines.append(piece.text);
    }
    if (follows) {
      while (this._lines.childNodes.length > 1 && this._lines.textContent!.length > MOST) {
        this._lines.firstChild!.remove();
      }
      this._body.scrollTop = this._body.scrollHeight;
    }
  }

  /** Ranks that can be chosen; those that are there stay, and so does the choice. */
  private _offer(ranks: number[]): void {
    const there = Array.from(this._ranks.options, option => Number(option.value));
    const all = [...new Set([...there, ...ranks])].sort((one, other) => one - other);
    if (all.length > there.length) {
      const chosen = this._ranks.value || '0';
      this._ranks.replaceChildren(
        ...all.map(rank => make('option', { value: String(rank) }, this._trans.__('Rank %1', rank)))
      );
      this._ranks.value = chosen;
    }
  }

  private readonly _body = make('div', { class: 'nbddp-script', tabindex: '0', role: 'region' });
  private readonly _lines = make('pre');
  private readonly _ranks: HTMLSelectElement;
  private _end: number | null = null; // of what is shown of the log, in bytes
  private _turn = 0;
  private _timer = 0;
}
