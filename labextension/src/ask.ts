import type { NotebookPanel } from '@jupyterlab/notebook';
import { PathExt } from '@jupyterlab/coreutils';
import { Refused, type Server } from './api';
import { askKernel } from './kernel';

/** A notebook as it is on the screen, saved or not; outputs stay behind, since they may be large and say nothing. */
export function onScreen(panel: NotebookPanel): object {
  const model = panel.content.model!;
  const cells = Array.from(model.cells, cell => ({
    cell_type: cell.type,
    id: cell.id,
    source: cell.sharedModel.getSource(),
    metadata: { tags: cell.getMetadata('tags') ?? [] },
    execution_count: cell.type === 'code' ? (cell as any).executionCount : undefined
  }));
  const { kernelspec, language_info } = (model.sharedModel.metadata ?? {}) as any;
  return { nbformat: 4, nbformat_minor: 5, metadata: { kernelspec, language_info }, cells };
}

/** The server answers, whatever the kernel does; where it has no nbddp, the kernel does. */
export async function ask<T>(server: Server, panel: NotebookPanel, what: string, more: object = {}): Promise<T> {
  const { path, localPath } = panel.context;
  const folder = PathExt.dirname(localPath); // where modules beside the notebook are
  const body = { name: PathExt.basename(path), folder, notebook: onScreen(panel), ...more };
  if (await server.present()) {
    return server.post<T>(what, body);
  }
  const { trans } = server;
  const kernel = panel.sessionContext.session?.kernel;
  if (!kernel) {
    throw new Refused(
      trans.__('The server has no nbddp and this notebook no kernel: install nbddp where the server runs.'),
      404
    );
  }
  return askKernel<T>(trans, kernel, isRunning(panel), what, body);
}

/** Whether a cell was sent to the kernel and has not come back: the kernel's own word that it is busy takes its time. */
export function isRunning(panel: NotebookPanel): boolean {
  return panel.content.widgets.some(cell => cell.model.type === 'code' && /\*/.test(cell.promptNode?.textContent ?? ''));
}

export function isPython(panel: NotebookPanel): boolean {
  const language = panel.content.model?.defaultKernelLanguage || 'python';
  return /^i?python/i.test(language);
}
