import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import type { IRun, Server } from './api';
import { drawLines } from './codeLines';
import { button, make } from './elements';

/** The script of a run, or its logs, one for each rank: they lie in a folder that Jupyter itself does not show. */
export class RunText extends Widget {
  constructor(
    private readonly _server: Server,
    private readonly _languages: IEditorLanguageRegistry | null,
    trans: TranslationBundle,
    private readonly _run: IRun,
    what: 'script' | 'log'
  ) {
    super();
    this.id = `nbddp-text-${_run.folder}-${_run.name}-${what}`;
    this.addClass('nbddp-preview');
    this.title.label = what === 'script' ? trans.__('%1: script', _run.name) : trans.__('%1: log', _run.name);
    this.title.closable = true;
    this._body.setAttribute('aria-label', this.title.label);
    if (what === 'log') {
      this._ranks = make('select', { class: 'jp-mod-styled', 'aria-label': trans.__('Rank') });
      this._ranks.append(..._run.ranks.map(({ rank }) => make('option', { value: String(rank) }, trans.__('Rank %1', rank))));
      this._ranks.addEventListener('change', () => void this._fill());
      const again = button(trans.__('Refresh'), 'jp-mod-styled', () => void this._fill());
      this.node.append(make('div', { class: 'nbddp-actions' }, this._ranks, again));
    }
    this.node.append(this._body);
    void this._fill();
  }

  chooseRank(rank: number): void {
    if (this._ranks && this._ranks.value !== String(rank)) {
      this._ranks.value = String(rank);
      void this._fill();
    }
  }

  /** Whoever has come here by keys goes on by keys. */
  protected onActivateRequest(): void {
    (this._ranks ?? this._body).focus();
  }

  protected onCloseRequest(): void {
    this.dispose();
  }

  /** Of two ranks that were asked for, the later one is shown, whichever text comes first. */
  private async _fill(): Promise<void> {
    const what = this._ranks?.value ?? 'script';
    const where = { folder: this._run.folder, name: this._run.name, what };
    let shown: Node;
    try {
      const { text } = await this._server.get<{ text: string }>('run/text', where);
      shown = this._ranks ? make('pre', {}, text) : await this._lines(text);
    } catch (error) {
      shown = make('p', { class: 'nbddp-status' }, error instanceof Error ? error.message : String(error));
    }
    if (what === (this._ranks?.value ?? 'script')) {
      this._body.replaceChildren(shown);
      this._body.scrollTop = this._ranks ? this._body.scrollHeight : 0;
    }
  }

  private _lines(text: string): Promise<HTMLElement> {
    const lines = text.replace(/\n$/, '').split('\n').map(line => ({ text: line, place: null, sign: ' ' as const }));
    return drawLines(this._languages, lines, { added: '', changed: '', goTo: () => '' }, null);
  }

  private readonly _body = make('div', { class: 'nbddp-script', tabindex: '0', role: 'region' });
  private readonly _ranks: HTMLSelectElement | null = null;
}
