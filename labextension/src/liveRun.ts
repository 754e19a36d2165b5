import type { IDisposable } from '@lumino/disposable';
import { draw, remove } from '../../nbddp/widget/static/run.js';
import { Refused, type Server } from './api';

const EVERY = 500;

/** Draws one run of the server's disk into an element, for as long as it goes on: no kernel is needed. */
export class LiveRun implements IDisposable {
  constructor(
    private readonly _server: Server,
    private readonly _host: HTMLElement,
    private readonly _folder: string,
    private readonly _name: string,
    private readonly _open?: () => void,
    private readonly _failed?: (sentence: string) => void
  ) {
    void this._look();
  }

  get isDisposed(): boolean {
    return this._disposed;
  }

  dispose(): void {
    if (!this._disposed) {
      this._disposed = true;
      window.clearTimeout(this._timer);
      remove(this._host);
    }
  }

  private async _look(): Promise<void> {
    const where = { folder: this._folder, name: this._name };
    let over = false;
    try {
      const snapshot = await this._server.get<{ over: boolean }>('run', where);
      if (this._disposed) {
        return;
      }
      const stop = (grade: string) => void this._server.post('run/stop', { ...where, grade }).catch(() => undefined);
      draw(this._host, snapshot, { stop, ...(this._open ? { open: this._open } : {}) });
      over = snapshot.over;
    } catch (error) {
      if (error instanceof Refused && error.status === 404) {
        this._failed?.(error.message);
        return;
      }
    }
    if (!over && !this._disposed) {
      this._timer = window.setTimeout(() => void this._look(), EVERY);
    }
  }

  private _disposed = false;
  private _timer = 0;
}
