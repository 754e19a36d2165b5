import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { make } from './elements';
import { DEFAULTS, type IRunOptions, MODES, problems } from './magic';

export interface IRunAnswer {
  options: IRunOptions;
  above: boolean;
}

/** Asks how the training cell shall run; null where it shall not. */
export async function askHow(
  trans: TranslationBundle,
  last: IRunOptions,
  above: boolean,
  cell: number,
  first: HTMLElement,
  runs: readonly string[]
): Promise<IRunAnswer | null> {
  const answer = await showDialog({
    title: trans.__('Train cell %1 with DDP', cell),
    body: new RunForm(trans, last, above, first, runs),
    buttons: [Dialog.cancelButton(), Dialog.okButton({ label: trans.__('Run') })],
    focusNodeSelector: 'input'
  });
  return answer.button.accept && answer.value ? answer.value : null;
}

class RunForm extends Widget implements Dialog.IBodyWidget<IRunAnswer | null> {
  constructor(
    private readonly _trans: TranslationBundle,
    last: IRunOptions,
    above: boolean,
    first: HTMLElement,
    runs: readonly string[]
  ) {
    super({ node: make('div', { class: 'nbddp-form' }) });
    const trans = _trans;
    const text = (key: keyof IRunOptions, label: string, hint: string) =>
      this._field(key, label, make('input', { type: 'text', placeholder: hint, value: String(last[key]) }));
    const flag = (key: keyof IRunOptions, label: string) => this._check(key, label, Boolean(last[key]));
    const offered = make('datalist', { id: 'nbddp-runs-offered' }, ...runs.map(name => make('option', { value: name })));
    const from = text('resume', trans.__('Resume from'), trans.__('a run that has a checkpoint, or a file'));
    from.querySelector('input')!.setAttribute('list', offered.id);
    this.node.append(
      first,
      this._mode(last.mode),
      text('nproc', trans.__('Processes'), trans.__('one for each GPU, or 2 without a GPU')),
      text('devices', trans.__('GPUs'), trans.__('all; or 0,1')),
      text('seed', trans.__('Seed'), trans.__("the notebook's")),
      from,
      offered,
      text('parameters', trans.__('Parameters'), '--lr 0.1'),
      text('rest', trans.__('More options'), '--checkpoint-every 10m'),
      flag('background', trans.__('In the background: the kernel stays free')),
      flag('fresh', trans.__("Start from the beginning, not from the notebook's current state")),
      flag('exact', trans.__('The numbers of one process: each batch is split to its last sample')),
      flag('batchPerRank', trans.__('The batch size is that of each process')),
      flag('syncBatchnorm', trans.__('BatchNorm statistics over the batches of all processes')),
      flag('shard', trans.__('Split the model among the processes (FSDP2), where it does not fit one GPU')),
      this._check('above', trans.__('Run the cells above first'), above)
    );
    this.node.addEventListener('input', () => this._validate());
  }

  getValue(): IRunAnswer | null {
    const options = { ...DEFAULTS } as any;
    for (const [key, input] of this._inputs) {
      options[key] = input instanceof HTMLInputElement && input.type === 'checkbox' ? input.checked : input.value.trim();
    }
    const { above, ...rest } = options;
    return problems(rest).length ? null : { options: rest, above };
  }

  /** The dialog's own button refuses what is wrong, in words at the field. */
  private _validate(): void {
    const values = Object.fromEntries([...this._inputs].map(([key, input]) => [key, input.value]));
    const wrong = new Set<string>(problems({ ...DEFAULTS, ...values, rest: '' } as IRunOptions));
    const forms: Record<string, string> = {
      nproc: this._trans.__('a whole number, at least 1'),
      devices: this._trans.__('GPU numbers, for example 0,1'),
      seed: this._trans.__('a whole number')
    };
    for (const [key, input] of this._inputs) {
      input.setAttribute('aria-invalid', String(wrong.has(key)));
      const said = this.node.querySelector(`#nbddp-wrong-${key}`);
      if (said) {
        said.textContent = wrong.has(key) ? forms[key] : '';
      }
    }
    const accept = this.node.closest('.jp-Dialog')?.querySelector<HTMLButtonElement>('.jp-mod-accept');
    if (accept) {
      accept.disabled = wrong.size > 0;
    }
  }

  private _mode(chosen: string): HTMLElement {
    const trans = this._trans;
    const names = {
      '': trans.__('DDP: processes of its own'),
      auto: trans.__('Automatic: DDP where there are several GPUs'),
      single: trans.__('One device, in this kernel'),
      dp: trans.__('DataParallel, in this kernel')
    };
    const options = (['', ...MODES] as const).map(mode => make('option', { value: mode }, names[mode]));
    const select = make('select', {}, ...options);
    select.value = chosen === 'ddp' ? '' : chosen;
    return this._field('mode', trans.__('Mode'), select);
  }

  private _field(key: string, label: string, input: HTMLInputElement | HTMLSelectElement): HTMLElement {
    input.className = 'jp-mod-styled';
    input.setAttribute('aria-describedby', `nbddp-wrong-${key}`);
    this._inputs.set(key, input);
    const wrong = make('small', { id: `nbddp-wrong-${key}`, role: 'status' });
    return make('label', {}, make('span', {}, label), input, wrong);
  }

  private _check(key: string, label: string, checked: boolean): HTMLElement {
    const input = make('input', { type: 'checkbox' });
    input.checked = checked;
    this._inputs.set(key, input);
    return make('label', { class: 'nbddp-flag' }, input, make('span', {}, label));
  }

  private readonly _inputs = new Map<string, HTMLInputElement | HTMLSelectElement>();
}
