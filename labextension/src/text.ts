import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { Widget } from '@lumino/widgets';
import { Refused, type IRun, type Server } from './api';
import { drawLines } from './codeLines';
import { make } from './elements';

/** The script or the log of a run, to read: both lie in a folder that Jupyter itself does not show. */
export class RunText extends Widget {
  constructor(
    server: Server,
    private readonly _languages: IEditorLanguageRegistry | null,
    run: IRun,
    what: string,
    title: string
  ) {
    super();
    this.id = `nbddp-text-${run.folder}-${run.name}-${what}`;
    this.addClass('nbddp-preview');
    this.title.label = title;
    this.title.closable = true;
    this.node.append(this._body);
    this._body.setAttribute('aria-label', title);
    void this._fill(server, run, what);
  }

  protected onCloseRequest(): void {
    this.dispose();
  }

  private async _fill(server: Server, run: IRun, what: string): Promise<void> {
    try {
      const { text } = await server.get<{ text: string }>('run/text', { folder: run.folder, name: run.name, what });
      if (what === 'script') {
        const lines = text.replace(/\n$/, '').split('\n').map(line => ({ text: line, place: null, sign: ' ' as const }));
        this._body.replaceChildren(await drawLines(this._languages, lines, WORDS, null));
      } else {
        this._body.replaceChildren(make('pre', {}, text));
        this._body.scrollTop = this._body.scrollHeight;
      }
    } catch (error) {
      this._body.replaceChildren(error instanceof Refused ? error.message : String(error));
    }
  }

  private readonly _body = make('div', { class: 'nbddp-script', tabindex: '0', role: 'region' });
}

const WORDS = { added: '', changed: '', goTo: () => '' };
