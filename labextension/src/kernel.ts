import type { Kernel, KernelMessage } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import { told } from '../../nbddp/widget/static/run.js';
import { Refused } from './api';

/** Asks a kernel what the server cannot answer, in a way that runs no cell and leaves no name behind. */
export async function askKernel<T>(
  trans: TranslationBundle,
  kernel: Kernel.IKernelConnection,
  busy: boolean,
  what: string,
  body: object
): Promise<T> {
  if (busy || kernel.status === 'busy') {
    return inSubshell(trans, kernel, free => ask<T>(trans, free, what, body));
  }
  return ask<T>(trans, kernel, what, body);
}

async function ask<T>(
  trans: TranslationBundle,
  kernel: Kernel.IKernelConnection,
  what: string,
  body: object
): Promise<T> {
  const text = JSON.stringify(JSON.stringify(body)); // a JSON string is a Python string as well
  const expression = `__import__("nbddp.server.answers", fromlist=["_"]).answer_kernel("${what}", ${text})`;
  const reply = await kernel.requestExecute({
    code: '',
    silent: true,
    store_history: false,
    user_expressions: { answer: expression }
  }).done;
  const content = reply.content as KernelMessage.IReplyOkContent & { user_expressions?: any };
  const said = content.user_expressions?.answer;
  if (said?.status !== 'ok') {
    throw new Refused(
      said?.ename === 'ModuleNotFoundError'
        ? trans.__('Neither the server nor this kernel has nbddp: run "%pip install nbddp" in a cell.')
        : trans.__('The kernel cannot answer: %1', `${said?.ename ?? ''} ${said?.evalue ?? ''}`),
      404
    );
  }
  const answer = said.data['application/json'];
  if (answer.refused) {
    throw new Refused(told(answer.words ?? answer.refused), 400);
  }
  return answer as T;
}

/** Kernels of today answer beside a cell that runs; of others the answer would only come when that has ended. */
async function inSubshell<T>(
  trans: TranslationBundle,
  kernel: Kernel.IKernelConnection,
  ask: (kernel: Kernel.IKernelConnection) => Promise<T>
): Promise<T> {
  await kernel.info;
  if (!kernel.supportsSubshells) {
    throw new Refused(
      trans.__('The kernel is busy, and the server has no nbddp: wait for the cell, or interrupt it.'),
      409
    );
  }
  const made = await kernel.requestCreateSubshell({}).done;
  const id = (made.content as { subshell_id: string }).subshell_id;
  const beside = kernel.clone({ handleComms: false });
  beside.subshellId = id;
  try {
    return await ask(beside);
  } finally {
    void kernel.requestDeleteSubshell({ subshell_id: id }).done.catch(() => undefined);
    beside.dispose();
  }
}
