import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../src/operating/config/config.ts';

test('by default, only the log itself is written', () => {
  const { logLines } = readConfig({});
  assert.deepEqual(logLines, { access: false, audit: false, messages: undefined });
});

for (const [name, value, message] of [
  ['LOG_ACCESS', 'yes', /must be 1 or 0/],
  ['LOG_MESSAGES', 'all', /must be one of 0, 1, addresses/],
] as const)
  test(`${name}=${value} is refused at the start`, () => {
    assert.throws(() => readConfig({ [name]: value }), message);
  });
