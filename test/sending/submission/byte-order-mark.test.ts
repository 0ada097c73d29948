import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBatch } from '../../../src/sending/submission/read-batch.ts';
import { readBodyJson } from '../../../src/sending/submission/read-body-json.ts';
import { parseLargeBody } from '../../../src/sending/submission/read-large-json.ts';

const mark = '\uFEFF';

test('RFC 8259 8.1: a byte order mark before a body is ignored, whatever its size', async () => {
  const small = Buffer.from(`${mark}{"a":1}`);
  assert.deepEqual(readBodyJson(small, 'application/json').value, { a: 1 });
  assert.deepEqual(readBodyJson(small, 'application/json', parseLargeBody).value, { a: 1 });
  const batch = Buffer.from(`${mark}{"messages":[{"a":1},{"b":2}]}`);
  const messages = await readBatch(batch, async (work) => work());
  assert.deepEqual(
    messages.map((bytes) => bytes.toString()),
    ['{"a":1}', '{"b":2}'],
  );
});

test('a byte order mark inside a body is part of its text', () => {
  const body = Buffer.from(`{"a":"${mark}"}`);
  assert.deepEqual(readBodyJson(body, 'application/json').value, { a: mark });
  assert.throws(() => readBodyJson(Buffer.from(`${mark}${mark}{}`), 'application/json'));
});
