import { PathExt } from '@jupyterlab/coreutils';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { PanelLayout, Widget } from '@lumino/widgets';
import { draw, remove } from '../../nbddp/widget/static/run.js';
import type { Server } from './api';
import { make } from './elements';
import { LiveRun } from './liveRun';

export const MIME = 'application/vnd.nbddp.run+json';
const WIDGET = 'application/vnd.jupyter.widget-view+json';
const RUN_FOLDER = /(?:^|\/)\.nbddp\/runs\/([^/]+)\/script\.py$/;

interface ISnapshot {
  over: boolean;
  script: string;
}

export interface IWhere {
  rendermime: IRenderMimeRegistry;
  server: Server;
  path: () => string;
}

/** What an output keeps of a run: drawn at once, and live where the widget's kernel, or else the run's folder, is there. */
export class RunOutput extends Widget implements IRenderMime.IRenderer {
  constructor(private readonly _where: IWhere | null) {
    super();
    this.addClass('nbddp-output');
    this.node.append(this._host);
    this.layout = new PanelLayout();
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const snapshot = model.data[MIME] as unknown as ISnapshot;
    this._clear();
    this._model = model;
    draw(this._host, snapshot, {});
    if (this._where && !snapshot.over) {
      void this._goOn(this._where, model, snapshot);
    }
  }

  dispose(): void {
    if (!this.isDisposed) {
      this._clear();
      super.dispose();
    }
  }

  /** From the run's folder, where the server has it: no kernel is needed. Else by the widget, while its kernel lives. */
  private async _goOn(where: IWhere, model: IRenderMime.IMimeModel, snapshot: ISnapshot): Promise<void> {
    const name = RUN_FOLDER.exec(snapshot.script)?.[1];
    const present = name ? await where.server.present() : false;
    if (this.isDisposed || this._model !== model) {
      return;
    }
    const widget = () => this._tryWidget(where.rendermime, model);
    if (present) {
      const folder = PathExt.dirname(where.path());
      this._live = new LiveRun(where.server, this._host, folder, name!, undefined, widget);
    } else {
      widget();
    }
  }

  /** The widget takes over when it has drawn itself; without its model it only says that there is none. */
  private _tryWidget(rendermime: IRenderMimeRegistry, model: IRenderMime.IMimeModel): void {
    if (!(WIDGET in model.data) || this.isDisposed) {
      return;
    }
    const widget = rendermime.createRenderer(WIDGET) as IRenderMime.IRenderer & Widget;
    this._widget = widget;
    widget.node.classList.add('nbddp-aside');
    this._observer = new MutationObserver(() => {
      if (widget.node.querySelector('.nbddp')) {
        this._observer?.disconnect();
        this._live?.dispose();
        remove(this._host);
        widget.node.classList.remove('nbddp-aside');
      }
    });
    this._observer.observe(widget.node, { childList: true, subtree: true });
    (this.layout as PanelLayout).addWidget(widget);
    void widget.renderModel(model).catch(() => undefined);
  }

  private _clear(): void {
    this._observer?.disconnect();
    this._live?.dispose();
    this._widget?.dispose();
    this._live = this._widget = null;
    remove(this._host);
  }

  private readonly _host = make('div');
  private _model: IRenderMime.IMimeModel | null = null;
  private _live: LiveRun | null = null;
  private _widget: Widget | null = null;
  private _observer: MutationObserver | null = null;
}

export function factory(where: IWhere | null): IRenderMime.IRendererFactory {
  return { safe: true, mimeTypes: [MIME], defaultRank: -20, createRenderer: () => new RunOutput(where) };
}
