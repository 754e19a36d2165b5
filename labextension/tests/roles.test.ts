import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roleOf, withRole } from '../src/roles.ts';

test('the first tag that is a role counts', () => {
  assert.equal(roleOf(['mine', 'ddp-setup', 'ddp-train']), 'setup');
  assert.equal(roleOf(['mine']), '');
  assert.equal(roleOf(['parameters']), 'parameters');
});

test('a role takes the place of others and leaves other tags alone', () => {
  assert.deepEqual(withRole(['a', 'ddp-setup', 'b', 'ddp-skip'], 'train'), ['a', 'b', 'ddp-train']);
  assert.deepEqual(withRole(['a', 'parameters'], ''), ['a']);
  assert.deepEqual(withRole([], 'rank0'), ['ddp-rank0']);
  assert.deepEqual(withRole(['ddp-wrap'], 'connect'), ['ddp-connect']);
});

test('a misspelt role is a tag of the user', () => {
  assert.deepEqual(withRole(['ddp-trian'], 'train'), ['ddp-trian', 'ddp-train']);
});
