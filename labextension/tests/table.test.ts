import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differing, filtered, measures, sorted } from '../src/table.ts';

const summary = more => ({ parameters: {}, last: {}, best: {}, failure: '', ...more });
const row = (name, value) => ({ name, folder: '', values: [name, value] });
const names = rows => rows.map(one => one.name).join('');

test('parameters that are the same in all runs are no columns', () => {
  const runs = [summary({ parameters: { lr: 0.1, epochs: 3 } }), summary({ parameters: { lr: 0.2, epochs: 3, fast: true } })];
  assert.deepEqual(differing(runs), ['fast', 'lr']);
  assert.deepEqual(differing(runs.slice(1)), []);
});

test('numbers that most runs have come first', () => {
  assert.deepEqual(measures([summary({ last: { a: 1, loss: 1 } }), summary({ last: { loss: 1 } })]), ['loss', 'a']);
});

test('rows by a column, those without a value last', () => {
  const rows = [row('a', 10), row('b', null), row('c', 9)];
  assert.equal(names(sorted(rows, 1, false)), 'cab');
  assert.equal(names(sorted(rows, 1, true)), 'acb');
  assert.equal(names(sorted(rows, 0, true)), 'cba');
});

test('rows that have all the words', () => {
  const rows = [row('digits', 'Done'), row('digits', 'Failed'), row('gan', 'Done')];
  assert.equal(filtered(rows, 'DIG done').length, 1);
  assert.equal(filtered(rows, '').length, 3);
});
