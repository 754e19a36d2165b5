import type { Contents } from '@jupyterlab/services';
import type { IStateDB } from '@jupyterlab/statedb';
import type { IRunOptions } from './magic';

const SPACE = 'nbddp';
const KEY = `${SPACE}:run:`;

/** What was last entered in the form, for each notebook by its path. It comes along when that changes. */
export class Remembered {
  constructor(
    private readonly _state: IStateDB | null,
    contents: Contents.IManager
  ) {
    contents.fileChanged.connect((_, { type, oldValue, newValue }) => {
      if (type === 'rename' && oldValue?.path && newValue?.path) {
        this.goes(oldValue.path, newValue.path, true);
      }
    });
  }

  async of(path: string): Promise<Partial<IRunOptions>> {
    await this._moved;
    return ((await this._state?.fetch(KEY + path)) ?? {}) as Partial<IRunOptions>;
  }

  async keep(path: string, options: IRunOptions): Promise<void> {
    await this._state?.save(KEY + path, { ...options } as Record<keyof IRunOptions, string | boolean>);
  }

  /** A notebook, or a folder of some, has another path; `away` where nothing is left at the old one. */
  goes(from: string, to: string, away: boolean): void {
    this._moved = this._moved.then(() => this._carry(from, to, away)).catch(() => undefined); // a form begins empty then
  }

  private async _carry(from: string, to: string, away: boolean): Promise<void> {
    const state = this._state;
    const { ids, values } = (await state?.list(SPACE)) ?? { ids: [], values: [] };
    for (const [at, id] of ids.entries()) {
      const path = id.slice(KEY.length);
      if (id.startsWith(KEY) && (path === from || path.startsWith(`${from}/`))) {
        await state!.save(KEY + to + path.slice(from.length), values[at]);
        await (away ? state!.remove(id) : undefined);
      }
    }
  }

  private _moved: Promise<void> = Promise.resolve();
}
