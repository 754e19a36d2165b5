import { type ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { told, TRANSLATION } from '../../nbddp/widget/static/run.js';
import type { IDiagnostic } from './api';
import type { Role } from './roles';

/** The page's language, for us and for whatever draws a run on this page: the widgets of notebooks bring a drawing of their own. */
export function language(translator: ITranslator | null): TranslationBundle {
  const trans = (translator ?? nullTranslator).load('nbddp');
  (globalThis as Record<symbol, unknown>)[TRANSLATION] = trans;
  return trans;
}

/** What a role is called; "kept", "left-out" and "invalid" are found, "candidate" is a cell that may be the one that trains. */
export function roleName(trans: TranslationBundle, role: string): string {
  const names: Record<Role | 'kept' | 'left-out' | 'invalid' | 'candidate' | '', string> = {
    train: trans.__('Train'),
    setup: trans.__('Setup'),
    rank0: trans.__('Rank 0'),
    parameters: trans.__('Parameters'),
    skip: trans.__('Left out'),
    wrap: trans.__('Wraps'),
    connect: trans.__('Connects'),
    kept: trans.__('Kept'),
    'left-out': trans.__('Left out'),
    invalid: trans.__('Syntax error'),
    candidate: trans.__('Trains?'),
    '': trans.__('Automatic')
  };
  return names[role as Role] ?? role;
}

export function roleMeaning(trans: TranslationBundle, role: Role | ''): string {
  const meanings: Record<Role | '', string> = {
    '': trans.__('Keep what the training needs of this cell'),
    train: trans.__('This is the training cell'),
    setup: trans.__('Keep the whole cell'),
    rank0: trans.__('Keep this cell, on rank 0 only'),
    parameters: trans.__('Its constants become command-line options'),
    skip: trans.__('Leave this cell out'),
    wrap: trans.__('Its wrap(model, device) replaces DDP(model)'),
    connect: trans.__('Its connect(rank, world_size) replaces init_process_group()')
  };
  return meanings[role];
}

export function levelName(trans: TranslationBundle, level: IDiagnostic['level']): string {
  return { error: trans.__('Error'), warning: trans.__('Warning'), note: trans.__('Note') }[level];
}

/** A finding's text in the page's language; the kernel that said it may have an older nbddp. */
export function said(one: IDiagnostic, text: 'message' | 'why' | 'help'): string {
  return told(one.words?.[text] ?? one[text]);
}

/** "2 errors, 1 warning"; nothing where there is nothing. */
export function counted(trans: TranslationBundle, diagnostics: readonly IDiagnostic[]): string {
  const many = (level: string) => diagnostics.filter(one => one.level === level).length;
  const [errors, warnings, notes] = [many('error'), many('warning'), many('note')];
  return [
    errors ? trans._n('%1 error', '%1 errors', errors) : '',
    warnings ? trans._n('%1 warning', '%1 warnings', warnings) : '',
    notes ? trans._n('%1 note', '%1 notes', notes) : ''
  ]
    .filter(text => text)
    .join(', ');
}
