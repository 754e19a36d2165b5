import type { Cell } from '@jupyterlab/cells';
import type { TranslationBundle } from '@jupyterlab/translation';
import { MenuSvg } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import { told } from '../../nbddp/widget/static/run.js';
import type { ICellReport, IDiagnostic, IReport } from './api';
import { button } from './elements';
import { ROLES, type Role, roleOf, withRole } from './roles';
import type { Watcher } from './watcher';
import { counted, roleMeaning, roleName, said } from './words';

export const SET_ROLE = 'nbddp:set-role';

/** A chip on each code cell: the part that it plays. It lies over the cell, so that nothing moves when it comes. */
export class Chips {
  constructor(
    private readonly _watcher: Watcher,
    private readonly _commands: CommandRegistry,
    private readonly _trans: TranslationBundle
  ) {
    _watcher.changed.connect(this.draw, this);
    _watcher.panel.content.modelContentChanged.connect(this._prune, this);
  }

  set shown(value: boolean) {
    this._shown = value;
    this.draw();
  }

  draw(): void {
    const report = this._watcher.report;
    const cells = this._watcher.panel.content.widgets;
    const worth = this._shown && report && isAboutTraining(report);
    const reports = new Map(worth ? withCandidates(report).map(one => [one.number, one]) : []);
    cells.forEach((cell, at) => {
      const found = reports.get(at + 1);
      if (found?.role) {
        this._show(cell, found, report!.diagnostics.filter(one => one.cell === at + 1));
      } else {
        this._remove(cell);
      }
    });
  }

  private _show(cell: Cell, report: ICellReport, diagnostics: IDiagnostic[]): void {
    const key = JSON.stringify([report, diagnostics]);
    let chip = this._chips.get(cell);
    if (chip?.dataset.key === key) {
      return;
    }
    const name = roleName(this._trans, report.role);
    const found = chipCount(this._trans, report, diagnostics);
    if (!chip) {
      chip = button('', 'nbddp-chip', () => this._menu(cell));
      chip.setAttribute('aria-haspopup', 'menu');
      chip.dataset.lmSuppressShortcuts = 'true'; // Enter is the button's, not the notebook's
      this._chips.set(cell, chip);
      cell.node.append(chip);
    }
    chip.dataset.key = key;
    chip.textContent = found ? `${name} · ${found}` : name;
    chip.dataset.role = report.role;
    chip.dataset.level = diagnostics[0] ? worst(diagnostics) : '';
    const why = [reason(report), ...diagnostics.map(one => said(one, 'message'))].filter(one => one);
    chip.title = [name, ...why].join('\n');
    chip.setAttribute('aria-label', this._trans.__('DDP role of this cell: %1. Change it', [name, ...why].join('; ')));
    cell.addClass('nbddp-has-chip');
  }

  private _remove(cell: Cell): void {
    this._chips.get(cell)?.remove();
    this._chips.delete(cell);
    cell.removeClass('nbddp-has-chip');
  }

  private _prune(): void {
    for (const cell of this._chips.keys()) {
      if (cell.isDisposed) {
        this._chips.delete(cell);
      }
    }
  }

  private _menu(cell: Cell): void {
    const notebook = this._watcher.panel.content;
    notebook.activeCellIndex = notebook.widgets.indexOf(cell);
    const menu = new MenuSvg({ commands: this._commands });
    menu.title.label = this._trans.__('Role of this cell');
    for (const role of ['', ...ROLES]) {
      menu.addItem({ command: SET_ROLE, args: { role, short: true } });
    }
    const chip = this._chips.get(cell)!;
    const place = chip.getBoundingClientRect();
    menu.aboutToClose.connect(() => window.setTimeout(() => (chip.isConnected ? chip.focus() : undefined)));
    menu.open(place.left, place.bottom);
    menu.activateNextItem();
  }

  private readonly _chips = new Map<Cell, HTMLButtonElement>();
  private _shown = true;
}

/** Why the cell plays this part; the kernel that said so may have an older nbddp. */
function reason({ words, why }: ICellReport): string {
  return words ? words.map(told).join('; ') : why;
}

/** How much there is to say about the cell; a syntax error is the only one of its cell, and its name says so. */
function chipCount(trans: TranslationBundle, report: ICellReport, diagnostics: readonly IDiagnostic[]): string {
  if (diagnostics.some(one => one.rule === 'syntax')) {
    return report.role === 'invalid' ? '' : roleName(trans, 'invalid');
  }
  return counted(trans, diagnostics);
}

/** A notebook that trains nothing is left alone; one with cells that cannot be read may train in them. */
function isAboutTraining(report: IReport): boolean {
  return (
    report.training !== null ||
    report.cells.some(cell => cell.marked) ||
    report.diagnostics.some(one => one.rule === 'syntax') ||
    withCandidates(report) !== report.cells
  );
}

/** Where several cells might be the one that trains, each of them asks. */
function withCandidates(report: IReport): ICellReport[] {
  const asked = new Set(
    report.training === null
      ? report.diagnostics.filter(one => one.rule === 'training-cell' && one.cell).map(one => one.cell)
      : []
  );
  return asked.size
    ? report.cells.map(cell => (asked.has(cell.number) && !cell.role ? { ...cell, role: 'candidate' } : cell))
    : report.cells;
}

function worst(diagnostics: IDiagnostic[]): string {
  return ['error', 'warning', 'note'].find(level => diagnostics.some(one => one.level === level))!;
}

/** The role that the cell's tags give it. */
export function tagRole(cell: Cell): Role | '' {
  return roleOf(tagsOf(cell));
}

export function setRole(cell: Cell, role: Role | ''): void {
  const tags = withRole(tagsOf(cell), role);
  if (tags.length) {
    cell.model.setMetadata('tags', tags);
  } else {
    cell.model.deleteMetadata('tags');
  }
}

function tagsOf(cell: Cell): string[] {
  const tags = cell.model.getMetadata('tags');
  return Array.isArray(tags) ? tags.filter(tag => typeof tag === 'string') : [];
}

export function roleLabel(trans: TranslationBundle, role: Role | '', short: boolean): string {
  return short
    ? `${roleName(trans, role)} – ${roleMeaning(trans, role)}`
    : trans.__('DDP role of the cell: %1', roleName(trans, role));
}
