import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULTS, problems, readMagic, withMagic } from '../src/magic.ts';

test('a line is read as the form shows it', () => {
  assert.deepEqual(readMagic('%%ddp_train --nproc 2 --devices=0,1 --fresh --resume x.pt\nfor x in y:'), {
    ...DEFAULTS,
    nproc: '2',
    devices: '0,1',
    fresh: true,
    resume: 'x.pt'
  });
  assert.equal(readMagic('%%single_train\nx'), null);
  assert.equal(readMagic('for x in y:'), null);
  assert.deepEqual(readMagic('%%ddp_train'), DEFAULTS);
  assert.deepEqual(readMagic('%%ddp_train --exact'), { ...DEFAULTS, exact: true });
});

test('what is written and read again is the same', () => {
  for (const line of [
    '%%ddp_train',
    '%%ddp_train --nproc 2 --background',
    '%%ddp_train --nproc 2 --exact',
    '%%ddp_train --nproc 2 --shard',
    '%%ddp_train --devices 0,1 --seed 3 --batch-per-rank --sync-batchnorm --export "a b.py"',
    '%%ddp_train --nproc 2 -- --lr 0.1 --seed 4',
    '%%ddp_train --mode auto --resume digits --checkpoint-every 10m -- --name "a b" -- c',
    '%%ddp_train --fresh --resume "my run" -- --lr 0.1'
  ]) {
    const cell = `${line}\nfor x in y:\n    pass`;
    assert.equal(withMagic(cell, readMagic(cell)!), cell);
  }
});

test('a cell without a magic gets one, and one of ours is replaced', () => {
  assert.equal(withMagic('x = 1', { ...DEFAULTS, nproc: ' 4 ' }), '%%ddp_train --nproc 4\nx = 1');
  assert.equal(withMagic('%%single_train --device cuda:1\nx = 1', DEFAULTS), '%%ddp_train\nx = 1');
  assert.equal(withMagic('%%ddp_trainer\nx = 1', DEFAULTS), '%%ddp_train\n%%ddp_trainer\nx = 1');
});

test('options after two dashes are the script\'s own', () => {
  assert.equal(readMagic('%%ddp_train --nproc 2 -- --nproc 3')!.nproc, '2');
  assert.equal(readMagic('%%ddp_train --nproc 2 -- --nproc 3')!.parameters, '--nproc 3');
  assert.equal(readMagic('%%ddp_train --export "x y.py" -- --nproc 3')!.rest, '--export "x y.py" -- --nproc 3');
});

test('an option whose value is missing stays as it is', () => {
  assert.equal(readMagic('%%ddp_train --nproc')!.rest, '--nproc');
});

test('what is wrong is named by its field', () => {
  const wrong = { ...DEFAULTS, nproc: '0', devices: 'gpu', seed: '-1' };
  assert.deepEqual(problems(wrong), ['nproc', 'devices', 'seed']);
  assert.deepEqual(problems({ ...DEFAULTS, nproc: '12', devices: '0, 3', seed: '0' }), []);
});
