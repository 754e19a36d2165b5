import { Poll } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';
import { known } from '../../nbddp/widget/static/run.js';
import type { IRun, Server } from './api';

const OFTEN = 2000;
const RARELY = 15000;

/** The runs of the folders that are in sight, asked for often while one is going on. */
export class RunList {
  constructor(
    private readonly _server: Server,
    private readonly _folders: () => string[]
  ) {
    this._poll = new Poll({
      name: 'nbddp:runs',
      auto: false,
      factory: () => this._ask(),
      frequency: { interval: RARELY, backoff: true, max: 120000 },
      standby: () => document.hidden && this.runs.every(run => run.over) // the end of a run is told in any case
    });
    void this._server.present().then(present => {
      this.visible = present;
      return present ? this._poll.start() : this._changed.emit();
    });
  }

  runs: IRun[] = [];

  /** False where the server has no nbddp: then there may well be runs, but nobody tells of them. */
  visible = true;

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** A run that was seen to go on, and has ended since. */
  get ended(): ISignal<this, IRun> {
    return this._ended;
  }

  /** When this is done, `runs` are those of now, and not of an answer that was under way. */
  async refresh(): Promise<void> {
    if (await this._server.present()) {
      await this._ask().catch(() => undefined); // it is asked again soon
    }
  }

  async stop(run: IRun, grade: string): Promise<void> {
    await this._server.post('run/stop', { folder: run.folder, name: run.name, grade });
    await this.refresh();
  }

  async describe({ folder, name }: IRun, about: { title: string; note: string }): Promise<void> {
    await this._server.patch('run', { folder, name, ...about });
    await this.refresh();
  }

  /** All of them, or those before the first that is refused. */
  async delete(runs: readonly IRun[]): Promise<void> {
    try {
      for (const { folder, name } of runs) {
        await this._server.delete('run', { folder, name });
      }
    } finally {
      await this.refresh();
    }
  }

  private async _ask(): Promise<void> {
    const turn = ++this._asked;
    const { runs } = await this._server.get<{ runs: IRun[] }>('runs', { folder: this._folders() });
    if (turn < this._answered) {
      return; // a later question has been answered before
    }
    this._answered = turn;
    const before = JSON.stringify(this.runs.map(still));
    const key = (run: IRun) => `${run.folder}/${run.name}`;
    const lived = new Set(this.runs.filter(run => !run.over).map(key));
    this.runs = runs;
    const interval = runs.some(run => !run.over) ? OFTEN : RARELY;
    if (this._poll.frequency.interval !== interval) {
      this._poll.frequency = { ...this._poll.frequency, interval };
    }
    if (JSON.stringify(runs.map(still)) !== before) {
      this._changed.emit();
    }
    runs.filter(run => run.over && lived.has(key(run))).forEach(run => this._ended.emit(run));
  }

  private readonly _poll: Poll;
  private _asked = 0;
  private _answered = 0;
  private readonly _ended = new Signal<this, IRun>(this);
  private readonly _changed = new Signal<this, void>(this);
}

/** Of a run that has ended, the clock is no news. */
function still(run: IRun): IRun {
  return run.over ? { ...run, now: 0 } : run;
}

/** "Training, epoch 3 of 10, 0:42". */
export function inWords(run: IRun, duration: (seconds: number) => string): string {
  const epoch = run.epoch === null ? '' : `${run.epoch + 1}${run.epochs ? `/${run.epochs}` : ''}`;
  const seconds = run.started === null ? null : (run.over ? (run.ended ?? run.now) : run.now) - run.started;
  return [known(run.label), epoch, seconds === null ? '' : duration(Math.max(0, seconds))].filter(part => part).join(' · ');
}
