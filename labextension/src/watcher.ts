import type { NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import type { IReport, Server } from './api';
import { ask, isPython, isRunning, onScreen } from './ask';

const PAUSE = 100; // milliseconds without a key after which a check starts: less than there are between two words

/** Has a notebook checked whenever its cells have changed: one check at a time, and none while somebody types. */
export class Watcher implements IDisposable {
  constructor(
    readonly panel: NotebookPanel,
    private readonly _server: Server
  ) {
    void panel.context.ready.then(() => {
      if (!panel.isDisposed) {
        panel.content.modelContentChanged.connect(this._soon, this);
        panel.sessionContext.statusChanged.connect(this._kernelSays, this);
        this._soon();
      }
    });
    panel.disposed.connect(this.dispose, this);
  }

  /** What the last check found; it may be of a moment ago. */
  report: IReport | null = null;

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The report of what is on the screen now. */
  async now(): Promise<IReport> {
    this._checked = JSON.stringify(onScreen(this.panel));
    this.report = await ask<IReport>(this._server, this.panel, 'check');
    this._changed.emit();
    return this.report;
  }

  get isDisposed(): boolean {
    return this._disposed;
  }

  dispose(): void {
    this._disposed = true;
    window.clearTimeout(this._timer);
    Signal.clearData(this);
  }

  private _soon(): void {
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(() => void this._check(), PAUSE);
  }

  /** A kernel that was starting or busy when it should have been asked is asked now. */
  private _kernelSays(_: unknown, status: string): void {
    if (status === 'idle') {
      this._soon();
    }
  }

  private async _check(): Promise<void> {
    if (this._disposed || this._busy || !isPython(this.panel) || !(await this._wanted())) {
      return;
    }
    this._busy = true;
    try {
      await this.now();
    } catch {
      // The next change asks again; whoever presses a button is told what is wrong.
    } finally {
      this._busy = false;
    }
    if (!this._disposed && this._checked !== JSON.stringify(onScreen(this.panel))) {
      this._soon();
    }
  }

  /** Outputs that come in change the model as well, but not the cells. A kernel is not asked while it works. */
  private async _wanted(): Promise<boolean> {
    if (this._checked === JSON.stringify(onScreen(this.panel))) {
      return false;
    }
    if (await this._server.present()) {
      return true;
    }
    return this.panel.sessionContext.session?.kernel?.status === 'idle' && !isRunning(this.panel);
  }

  private _changed = new Signal<this, void>(this);
  private _checked = '';
  private _busy = false;
  private _disposed = false;
  private _timer = 0;
}
