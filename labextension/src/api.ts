import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Words } from '../../nbddp/widget/static/run.js';
import type { ISection, Place } from './lines';
import type { ISummary } from './table';

export interface IDiagnostic {
  rule: string;
  level: 'error' | 'warning' | 'note';
  message: string;
  cell: number;
  line: number;
  column: number;
  help: string;
  why: string;
  source: string;
  file?: string; // of a module beside the notebook, where the place is in none of its cells
  page?: string; // of the site; a kernel may have an older nbddp
  words?: Partial<Record<'message' | 'why' | 'help', Words>>; // the same texts, to be translated
}

export interface ICellReport {
  number: number;
  id: string | null;
  role: string;
  why: string;
  words?: Words[]; // the same, to be translated
  marked: string;
}

export interface IReport {
  training: number | null;
  cells: ICellReport[];
  diagnostics: IDiagnostic[];
}

export interface IExported {
  exported: true;
  script: string;
  lines: Array<Place | null>;
  sections?: ISection[]; // the kernel that answers may have an older nbddp
  cells: number;
  kept: number;
  rewrites: Record<string, number>;
  diagnostics: IDiagnostic[];
  edited: boolean;
}

export type Export = IExported | { exported: false; diagnostics: IDiagnostic[] };

/** A row of the list of runs; a snapshot of one run has more, which only the drawing reads. */
export interface IRun {
  folder: string;
  name: string;
  title: string; // what a person calls it, and has noted
  note: string;
  notebook: string; // which it is of, without its ending
  checkpoint: boolean; // whether it has one
  phase: string;
  label: string;
  tone: string;
  over: boolean;
  started: number | null;
  ended: number | null;
  now: number;
  epoch: number | null;
  epochs: number | null;
  progress: number | null;
  ranks: Array<{ rank: number }>;
  world_size: number | null;
  summary?: ISummary; // of a run that has ended
}

/** What went wrong, as a sentence. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly status: number
  ) {
    super(message);
  }
}

/** The routes that a server with nbddp has. */
export class Server {
  constructor(
    private readonly _settings: ServerConnection.ISettings,
    readonly trans: TranslationBundle
  ) {}

  /** False where the server has no nbddp: then a kernel may be asked. Asked once. */
  present(): Promise<boolean> {
    this._present ??= this.get('version').then(
      () => true,
      error => !(error instanceof Refused && error.status === 404)
    );
    return this._present;
  }

  get<T>(path: string, query: Record<string, string | string[]> = {}): Promise<T> {
    const words = Object.entries(query).flatMap(([name, value]) =>
      [value].flat().map(one => `${name}=${encodeURIComponent(one)}`)
    );
    return this._ask<T>(words.length ? `${path}?${words.join('&')}` : path, {});
  }

  post<T>(path: string, body: object): Promise<T> {
    return this._ask<T>(path, { method: 'POST', body: JSON.stringify(body) });
  }

  patch<T>(path: string, body: object): Promise<T> {
    return this._ask<T>(path, { method: 'PATCH', body: JSON.stringify(body) });
  }

  async delete(path: string, query: Record<string, string>): Promise<void> {
    await this._ask(`${path}?${new URLSearchParams(query)}`, { method: 'DELETE' });
  }

  private async _ask<T>(path: string, init: RequestInit): Promise<T> {
    const url = URLExt.join(this._settings.baseUrl, 'nbddp/api', path);
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(url, init, this._settings);
    } catch {
      throw new Refused(this.trans.__('The server does not answer.'), 0);
    }
    const body = await response.json().catch(() => ({}));
    if (!response.ok) {
      throw new Refused(body.message ?? response.statusText, response.status);
    }
    return body as T;
  }

  private _present: Promise<boolean> | undefined;
}
