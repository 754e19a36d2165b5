import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { PathExt } from '@jupyterlab/coreutils';
import type { Cell } from '@jupyterlab/cells';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import type { Export, Server } from './api';
import { ask } from './ask';
import { drawLines } from './codeLines';
import { make } from './elements';
import { scriptPath } from './exporting';
import { jump } from './jump';
import { type ISection, type IStretch, type Place, scriptLines } from './lines';
import type { Watcher } from './watcher';
import { counted } from './words';

/** The script beside the notebook, as it would be exported now: each line leads to its cell, and the cursor back. */
export class Preview extends Widget {
  constructor(
    private readonly _watcher: Watcher,
    private readonly _server: Server,
    private readonly _languages: IEditorLanguageRegistry | null,
    private readonly _trans: TranslationBundle
  ) {
    super();
    const { panel } = _watcher;
    this.id = `nbddp-preview-${panel.id}`;
    this.addClass('nbddp-preview');
    this._name();
    this.title.closable = true;
    this.node.append(this._status, this._body);
    this._body.setAttribute('aria-label', this._trans.__('Script'));
    this._body.addEventListener('keydown', event => this._walk(event));
    this._body.addEventListener('focusin', event => this._stopAt(event.target as HTMLElement));
    _watcher.changed.connect(this._soon, this);
    panel.context.pathChanged.connect(this._name, this);
    panel.content.activeCellChanged.connect(this._activeCell, this);
    panel.disposed.connect(this.dispose, this);
    this._activeCell();
  }

  dispose(): void {
    this._follow(null);
    super.dispose();
  }

  protected onCloseRequest(): void {
    this.dispose();
  }

  private _name(): void {
    const path = scriptPath(this._watcher.panel.context.path);
    this.title.label = this._trans.__('Preview of %1', PathExt.basename(path));
    this._soon(); // its first lines say which notebook it comes from
  }

  private _soon(): void {
    if (this._busy) {
      this._again = true;
      return;
    }
    this._busy = true;
    void this._update()
      .catch(error => {
        this._status.textContent = String(error.message ?? error);
      })
      .finally(() => {
        this._busy = false;
        if (this._again && !this.isDisposed) {
          this._again = false;
          this._soon();
        }
      });
  }

  private async _update(): Promise<void> {
    const { panel } = this._watcher;
    const said = await ask<Export>(this._server, panel, 'export');
    if (this.isDisposed) {
      return;
    }
    const found = counted(this._trans, said.diagnostics);
    if (!said.exported) {
      this._status.textContent = this._trans.__('No script at the moment: %1. Below is the last one.', found);
      this._body.classList.add('nbddp-old');
      return;
    }
    this._body.classList.remove('nbddp-old');
    const sources = new Map(panel.content.widgets.map((cell, at) => [at + 1, cell.model.sharedModel.getSource()]));
    const lines = scriptLines(said.script, said.lines, sources);
    const many = (sign: string) => lines.filter(line => line.sign === sign).length;
    const text = this._trans.__('%1 lines: %2 added, %3 changed', lines.length, many('+'), many('~'));
    this._status.textContent = [text, found].filter(one => one).join(' · ');
    if (this._script === said.script) {
      return;
    }
    this._script = said.script;
    const words = {
      added: this._trans.__('added'),
      changed: this._trans.__('changed'),
      goTo: ([cell, line]: Place) => this._trans.__('Go to cell %1, line %2', cell, line)
    };
    const go = ([cell, line]: Place) => void jump(panel.content, cell, line);
    const folds = { sections: said.sections ?? [], open: this._open, summary: this._summary.bind(this) };
    const drawn = await drawLines(this._languages, lines, words, go, folds);
    const scrolled = this._drawn ? this._body.scrollTop : null;
    this._body.replaceChildren(drawn);
    this._drawn = true;
    this._body.scrollTop = scrolled ?? this._ownCode();
    this._stopAt(this._stops()[0]);
    this._mark();
  }

  /** How far down the first line is that is no section's: there the preview opens. */
  private _ownCode(): number {
    const rows = Array.from(this._body.querySelectorAll<HTMLElement>('.nbddp-lines > .nbddp-line'));
    const first = rows.find(row => row.querySelector('code')?.textContent?.trim());
    return first ? first.getBoundingClientRect().top - this._body.getBoundingClientRect().top : 0;
  }

  private _summary({ section, lines }: IStretch & { section: ISection }): string {
    const many = lines.length;
    switch (section.kind) {
      case 'header':
        return this._trans._n('%1 line: what it is', '%1 lines: what it is and how to start it', many);
      case 'imports':
        return this._trans._n('%1 line of imports', '%1 lines of imports', many);
      default:
        return this._trans._n('%1 line: %2', '%1 lines: %2', many, section.title || this._trans.__('what several processes need'));
    }
  }

  /** Up and down from line to line; Enter goes to the cell or unfolds, as a click does. */
  private _walk(event: KeyboardEvent): void {
    const all = this._stops();
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (by && at >= 0) {
      const next = all[Math.max(0, Math.min(all.length - 1, at + by))];
      this._stopAt(next);
      next.focus();
      event.preventDefault();
    }
  }

  /** What can have the focus: lines of cells and folds, but no line that is folded away. */
  private _stops(): HTMLElement[] {
    const all = this._body.querySelectorAll<HTMLElement>('button.nbddp-place, button.nbddp-fold');
    return Array.from(all).filter(one => !one.closest('[hidden]'));
  }

  /** Where Tab leads: to one of them. */
  private _stopAt(stop: HTMLElement | undefined): void {
    for (const one of this._body.querySelectorAll<HTMLElement>('button[tabindex="0"]')) {
      one.tabIndex = -1;
    }
    if (stop) {
      stop.tabIndex = 0;
    }
  }

  private _activeCell(): void {
    this._follow(this._watcher.panel.content.activeCell);
    this._mark();
  }

  private _follow(cell: Cell | null): void {
    this._followed?.model?.selections?.changed.disconnect(this._mark, this);
    this._followed = cell?.editor ?? null;
    this._followed?.model?.selections?.changed.connect(this._mark, this);
  }

  /** The script's lines of the cell and line that the cursor is in. */
  private _mark(): void {
    const notebook = this._watcher.panel.content;
    const cell = String(notebook.activeCellIndex + 1);
    const line = String((notebook.activeCell?.editor?.getCursorPosition().line ?? -1) + 1);
    let first: HTMLElement | null = null;
    for (const row of this._body.querySelectorAll<HTMLElement>('.nbddp-line')) {
      const here = row.dataset.cell === cell;
      row.classList.toggle('nbddp-here', here);
      row.classList.toggle('nbddp-cursor', here && row.dataset.line === line);
      first ??= here && row.dataset.line === line ? row : null;
    }
    first ??= this._body.querySelector<HTMLElement>('.nbddp-here');
    if (first && !this.node.contains(document.activeElement)) {
      first.scrollIntoView({ block: 'nearest' });
    }
  }

  private readonly _status = make('p', { role: 'status', class: 'nbddp-status' });
  private readonly _body = make('div', { class: 'nbddp-script', role: 'region' });
  private _followed: NonNullable<Cell['editor']> | null = null;
  private readonly _open = new Set<string>(); // sections that the user has unfolded
  private _drawn = false;
  private _script = '';
  private _busy = false;
  private _again = false;
}
