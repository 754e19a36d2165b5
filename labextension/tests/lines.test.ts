import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptLines, sectionKey, stretches } from '../src/lines.ts';

const CELLS = new Map([
  [1, 'import torch\nfrom torch import nn'],
  [3, 'model = nn.Linear(4, 1)\nprint(1)']
]);

test('a line is the cell\'s own, changed or added', () => {
  const lines = scriptLines('import torch\n\nx = 1\n    model = DDP(nn.Linear(4, 1))\n    print(1)\n', [null, null, null, [3, 1], [3, 2]], CELLS);
  assert.deepEqual(
    lines.map(({ sign, place }) => [sign, place]),
    [
      [' ', [1, 1]],
      [' ', null],
      ['+', null],
      ['~', [3, 1]],
      [' ', [3, 2]]
    ]
  );
});

test('a place that the notebook no longer has is a change, not an error', () => {
  assert.equal(scriptLines('x', [[9, 9]], CELLS)[0].sign, '~');
});

test('lines of a section are together, all others by themselves', () => {
  const lines = scriptLines('a\nb\nc\nd\ne\n', [null, null, [1, 1], null, null], new Map([[1, 'c']]));
  const imports = { kind: 'imports' as const, title: '', first: 1, last: 2 };
  const helpers = { kind: 'helpers' as const, title: 'the processes', first: 5, last: 5 };
  assert.deepEqual(
    stretches(lines, [imports, helpers]).map(one => [one.section?.kind, one.lines.map(line => line.text)]),
    [
      ['imports', ['a', 'b']],
      [undefined, ['c']],
      [undefined, ['d']],
      ['helpers', ['e']]
    ]
  );
  assert.equal(stretches(lines, []).length, 5);
  assert.notEqual(sectionKey(imports), sectionKey(helpers));
  assert.equal(sectionKey(imports), sectionKey({ ...imports, first: 3, last: 9 }));
});
