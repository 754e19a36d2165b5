import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { duration, known } from '../../nbddp/widget/static/run.js';
import type { IRun } from './api';
import type { RunList } from './runList';

const LONG = 60; // seconds: who starts a shorter run waits for it

/** Tells the end of each long run: in Jupyter, and by the browser where it is allowed to and nobody looks at the page. */
export function tellEnds(list: RunList, trans: TranslationBundle, open: (run: IRun) => void): void {
  list.ended.connect((_, run) => {
    const seconds = (run.ended ?? run.now) - (run.started ?? run.now);
    if (seconds < LONG) {
      return;
    }
    const text = trans.__('%1: %2 after %3', run.name, known(run.label), duration(seconds));
    const tell = run.tone === 'bad' ? Notification.error : Notification.info;
    tell(text, { autoClose: false, actions: [{ label: trans.__('Show'), callback: () => open(run) }] });
    if (document.hidden && 'Notification' in window && window.Notification.permission === 'granted') {
      new window.Notification(text);
    }
  });
}
