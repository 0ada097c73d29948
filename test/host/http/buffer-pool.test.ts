import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BufferPool } from '../../../src/host/http/limits/large-bodies.ts';

const mebibyte = 1_024 * 1_024;

test('a recycled buffer is used again for a body of about the same length', () => {
  const pool = new BufferPool(16 * 1_024 * 1_024);
  const first = pool.take(mebibyte + 1);
  pool.recycle(first);
  const second = pool.take(mebibyte + 2);
  assert.equal(second.buffer, first.buffer);
  assert.equal(second.length, mebibyte + 2);
});

test('a buffer that was not recycled is used by nobody else', () => {
  const pool = new BufferPool(16 * 1_024 * 1_024);
  const first = pool.take(mebibyte);
  const second = pool.take(mebibyte);
  assert.notEqual(second.buffer, first.buffer);
  pool.recycle(first);
  assert.equal(pool.take(mebibyte).buffer, first.buffer);
  assert.notEqual(pool.take(mebibyte).buffer, first.buffer);
});

test('a buffer is at most a quarter longer than asked for', () => {
  const pool = new BufferPool(16 * 1_024 * 1_024);
  for (const length of [262_145, 300_000, mebibyte - 1, mebibyte + 1, 26 * mebibyte + 7]) {
    const buffer = pool.take(length);
    assert.equal(buffer.length, length);
    assert.ok(buffer.buffer.byteLength <= length * 1.25);
  }
});

test('free buffers take up to 16 MiB', () => {
  const pool = new BufferPool(16 * 1_024 * 1_024);
  const taken = Array.from({ length: 17 }, () => pool.take(mebibyte));
  for (const buffer of taken) pool.recycle(buffer);
  const before = new Set(taken.map(({ buffer }) => buffer));
  const again = Array.from({ length: 17 }, () => pool.take(mebibyte));
  assert.equal(again.filter(({ buffer }) => before.has(buffer)).length, 16);
});
