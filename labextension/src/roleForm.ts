import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IFormRenderer } from '@jupyterlab/ui-components';
import * as React from 'react';
import { setRole, tagRole } from './chips';
import { ROLES, type Role } from './roles';
import { roleMeaning, roleName } from './words';

/** The role of the active cell among its common tools, for who prefers a form to a chip. */
export function roleForm(tracker: INotebookTracker, trans: TranslationBundle): IFormRenderer {
  return { fieldRenderer: () => React.createElement(Field, { tracker, trans }) };
}

function Field({ tracker, trans }: { tracker: INotebookTracker; trans: TranslationBundle }): React.ReactElement | null {
  const [, again] = React.useReducer((count: number) => count + 1, 0);
  const cell = tracker.activeCell;
  React.useEffect(() => {
    cell?.model.metadataChanged.connect(again);
    return () => {
      cell?.model?.metadataChanged.disconnect(again);
    };
  }, [cell]);
  if (!cell || cell.isDisposed || cell.model.type !== 'code') {
    return null;
  }
  const options = ['', ...ROLES].map(role =>
    React.createElement('option', { key: role, value: role, title: roleMeaning(trans, role as Role) }, roleName(trans, role))
  );
  const change = (event: React.ChangeEvent<HTMLSelectElement>) => setRole(cell, event.target.value as Role | '');
  const select = { className: 'form-control nbddp-role', value: tagRole(cell), onChange: change };
  return React.createElement(
    'label',
    { className: 'jp-FormGroup-content nbddp-role-field' },
    React.createElement('span', { className: 'jp-FormGroup-fieldLabel' }, trans.__('DDP role')),
    React.createElement('select', select, ...options)
  );
}
