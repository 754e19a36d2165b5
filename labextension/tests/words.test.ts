import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { known, told, TRANSLATION } from '../../nbddp/widget/static/run.js';

afterEach(() => delete globalThis[TRANSLATION]);

test('without a translation it is English', () => {
  assert.equal(told(['%1 failed%2', ['Rank %1', 3], '']), 'Rank 3 failed');
  assert.equal(known('Training'), 'Training');
});

test('what the page has as its translation is used, also inside of a sentence', () => {
  globalThis[TRANSLATION] = { __: (text, ...values) => `<${text.replace(/%(\d)/g, (_, at) => values[at - 1])}>` };
  assert.equal(told(['%1 failed%2', ['Rank %1', 3], '']), '<<Rank 3> failed>');
  assert.equal(known('warm start'), '<warm start>');
});

test('a value that looks like a place, or like an escape of JupyterLab, stays as it is', () => {
  const escaped = text => text.replace(/%%/g, '%% ');
  const filled = (text, values) => text.replace(/%(\d+)/g, (_, at) => values[at - 1]).replace(/%% /g, '%');
  globalThis[TRANSLATION] = { __: (text, ...values) => filled(escaped(text), values) };
  assert.equal(told(['%2: %1', '%2', '%% time']), '%% time: %2');
});

test('what somebody else has written stays as it is', () => {
  globalThis[TRANSLATION] = { __: () => 'never' };
  assert.equal(told('loss is %1'), 'loss is %1');
  assert.equal(known('a phase of tomorrow'), 'a phase of tomorrow');
  assert.equal(known(null), '');
});
