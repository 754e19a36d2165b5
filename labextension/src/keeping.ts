import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import type { IRun } from './api';
import { make } from './elements';

export interface IAbout {
  title: string;
  note: string;
}

/** Asks what a run is to be called, and for a note; null where nothing is to change. */
export async function askAbout(trans: TranslationBundle, run: IRun): Promise<IAbout | null> {
  const answer = await showDialog({
    title: trans.__('About %1', run.name),
    body: new AboutForm(trans, run),
    buttons: [Dialog.cancelButton(), Dialog.okButton({ label: trans.__('Save') })],
    focusNodeSelector: 'input'
  });
  return answer.button.accept ? answer.value : null;
}

/** Whether these runs are to go; those that still run are named, since they stay. */
export async function askToDelete(trans: TranslationBundle, runs: readonly IRun[]): Promise<boolean> {
  const names = make('ul', {}, ...runs.map(run => make('li', {}, run.title || run.name)));
  const what = trans.__('The script, logs, checkpoints and results are deleted for good.');
  const answer = await showDialog({
    title: trans._n('Delete %1 run?', 'Delete %1 runs?', runs.length),
    body: new Widget({ node: make('div', {}, names, what) }),
    buttons: [Dialog.cancelButton(), Dialog.warnButton({ label: trans.__('Delete') })]
  });
  return answer.button.accept;
}

class AboutForm extends Widget implements Dialog.IBodyWidget<IAbout> {
  constructor(trans: TranslationBundle, run: IRun) {
    super({ node: make('div', { class: 'nbddp-form' }) });
    this._title.value = run.title;
    this._note.value = run.note;
    this._note.addEventListener('keydown', event => event.key === 'Enter' && event.stopPropagation()); // a new line
    this.node.append(
      make('label', {}, make('span', {}, trans.__('Title')), this._title),
      make('label', {}, make('span', {}, trans.__('Note')), this._note)
    );
  }

  getValue(): IAbout {
    return { title: this._title.value, note: this._note.value };
  }

  private readonly _title = make('input', { type: 'text', class: 'jp-mod-styled', maxlength: '200' });
  private readonly _note = make('textarea', { class: 'jp-mod-styled', rows: '4', maxlength: '10000' });
}
