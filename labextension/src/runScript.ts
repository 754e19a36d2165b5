import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import type { IRun, Server } from './api';
import { drawLines } from './codeLines';
import { make } from './elements';

/** The script of a run: it lies in a folder that Jupyter itself does not show. */
export class RunScript extends Widget {
  constructor(
    private readonly _server: Server,
    private readonly _languages: IEditorLanguageRegistry | null,
    trans: TranslationBundle,
    private readonly _run: IRun
  ) {
    super();
    this.id = `nbddp-text-${_run.folder}-${_run.name}-script`;
    this.addClass('nbddp-preview');
    this.title.label = trans.__('%1: script', _run.name);
    this.title.closable = true;
    this._body.setAttribute('aria-label', this.title.label);
    this.node.append(this._body);
    void this._fill();
  }

  /** Whoever has come here by keys goes on by keys. */
  protected onActivateRequest(): void {
    this._body.focus();
  }

  protected onCloseRequest(): void {
    this.dispose();
  }

  private async _fill(): Promise<void> {
    const where = { folder: this._run.folder, name: this._run.name, what: 'script' };
    try {
      const { text } = await this._server.get<{ text: string }>('run/text', where);
      this._body.replaceChildren(await this._lines(text));
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      this._body.replaceChildren(make('p', { class: 'nbddp-status' }, said));
    }
  }

  private _lines(text: string): Promise<HTMLElement> {
    const lines = text.replace(/\n$/, '').split('\n').map(line => ({ text: line, place: null, sign: ' ' as const }));
    return drawLines(this._languages, lines, { added: '', changed: '', goTo: () => '' }, null);
  }

  private readonly _body = make('div', { class: 'nbddp-script', tabindex: '0', role: 'region' });
}
