import type { Cell } from '@jupyterlab/cells';
import { PathExt } from '@jupyterlab/coreutils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { type PanelLayout, Widget } from '@lumino/widgets';
import type { IDiagnostic } from './api';
import { button, make } from './elements';
import { cellAt, firstLine, jump } from './jump';
import { underline } from './underline';
import { counted, levelName, said } from './words';

/** The diagnostics of a notebook: each at its cell, and all in a list that jumps to them. */
export class Findings extends Widget {
  constructor(
    readonly panel: NotebookPanel,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.id = `nbddp-findings-${panel.id}`;
    this.addClass('nbddp-findings');
    this.title.closable = true;
    this.node.setAttribute('role', 'region');
    this._name();
    panel.context.pathChanged.connect(this._name, this);
    panel.disposed.connect(this.dispose, this);
  }

  present(diagnostics: readonly IDiagnostic[]): void {
    this._banners(diagnostics);
    const heading = counted(this._trans, diagnostics) || this._trans.__('Nothing to report: this notebook exports.');
    const list = make('ul', {}, ...diagnostics.map(one => make('li', {}, this._entry(one), ...this._page(one))));
    const status = make('p', { role: 'status' }, heading);
    if (this.node.textContent !== `${heading}${list.textContent}`) {
      this.node.replaceChildren(status, list);
    }
  }

  dispose(): void {
    if (!this.isDisposed) {
      this._banners([]);
      super.dispose();
    }
  }

  /** Whoever has come here by keys goes on by keys. */
  protected onActivateRequest(): void {
    this.node.querySelector<HTMLElement>('.nbddp-finding')?.focus();
  }

  protected onCloseRequest(): void {
    this.dispose();
  }

  private _name(): void {
    const notebook = PathExt.basename(this.panel.context.path);
    this.title.label = this._trans.__('DDP: %1', notebook);
    this.node.setAttribute('aria-label', this._trans.__('What nbddp reports about %1', notebook));
  }

  private _entry(one: IDiagnostic): HTMLElement {
    const where = one.file
      ? [one.line ? this._trans.__('%1, line %2', one.file, one.line) : one.file]
      : one.cell
      ? [this._trans.__('cell %1, line %2', one.cell, one.line), ' ', firstLine(this.panel.content, one.cell)]
      : [this._trans.__('notebook')];
    const entry = button('', 'nbddp-finding', () => {
      void jump(this.panel.content, one.cell || 1, one.line, one.column);
    });
    entry.dataset.level = one.level;
    entry.append(
      make('b', {}, levelName(this._trans, one.level)),
      make('span', {}, said(one, 'message')),
      make('small', {}, ...where)
    );
    return entry;
  }

  private _banners(diagnostics: readonly IDiagnostic[]): void {
    const wanted = new Map<Cell, IDiagnostic[]>();
    for (const one of diagnostics) {
      const cell = cellAt(this.panel.content, one.cell);
      if (cell) {
        wanted.set(cell, [...(wanted.get(cell) ?? []), one]);
      }
    }
    for (const [cell, banner] of this._shown) {
      if (!wanted.has(cell) || banner.isDisposed) {
        void underline(cell, []);
        banner.dispose();
        this._shown.delete(cell);
      }
    }
    for (const [cell, found] of wanted) {
      this._banner(cell, found);
      void underline(cell, found);
    }
  }

  private _banner(cell: Cell, diagnostics: IDiagnostic[]): void {
    let banner = this._shown.get(cell);
    if (!banner) {
      banner = new Widget();
      banner.addClass('nbddp-banner');
      banner.node.setAttribute('role', 'note');
      banner.node.dataset.lmSuppressShortcuts = 'true';
      banner.node.setAttribute('aria-label', this._trans.__('What nbddp reports about this cell'));
      this._shown.set(cell, banner);
      const added = banner;
      void cell.ready.then(() => {
        if (!added.isDisposed && !cell.isDisposed) {
          const layout = cell.layout as PanelLayout;
          const output = layout.widgets.findIndex(one => one.hasClass('jp-Cell-outputWrapper'));
          layout.insertWidget(output < 0 ? layout.widgets.length : output, added);
        }
      });
    }
    const key = JSON.stringify(diagnostics);
    if (banner.node.dataset.key !== key) {
      banner.node.dataset.key = key;
      banner.node.replaceChildren(...diagnostics.map(one => this._said(one)));
    }
  }

  private _said(one: IDiagnostic): HTMLElement {
    const line = button(this._trans.__('line %1', one.line), 'nbddp-link', () => {
      void jump(this.panel.content, one.cell, one.line, one.column);
    });
    const parts: Node[] = [
      make('p', {}, make('b', {}, `${levelName(this._trans, one.level)}: `), said(one, 'message'), ' ', line)
    ];
    if (one.why) {
      parts.push(make('p', {}, this._trans.__('Why: %1', said(one, 'why'))));
    }
    if (one.help) {
      parts.push(make('p', {}, this._trans.__('Help: %1', said(one, 'help'))));
    }
    return make('div', { 'data-level': one.level }, ...parts, ...this._page(one));
  }

  private _page(one: IDiagnostic): HTMLElement[] {
    const text = this._trans.__('More about “%1”', one.rule);
    return one.page ? [make('a', { class: 'nbddp-link', href: one.page, target: '_blank', rel: 'noopener' }, text)] : [];
  }

  private readonly _shown = new Map<Cell, Widget>();
}
