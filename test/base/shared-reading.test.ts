import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareReading } from '../../src/base/telemetry/shared-reading.ts';
import { createLog } from '../../src/base/values/log.ts';

const log = createLog('silent');

test('gauges collected together share one reading, and the next scrape reads again', async () => {
  let readings = 0;
  const read = shareReading(async () => ++readings, { what: 'x', log });
  assert.deepEqual(await Promise.all([read(), read(), read()]), [1, 1, 1]);
  assert.equal(await read(), 2);
});

test('a value is reused until it is too old', async () => {
  let readings = 0;
  const read = shareReading(async () => ++readings, { what: 'x', log, maxAgeMs: 60_000 });
  assert.deepEqual([await read(), await read()], [1, 1]);
});

test('a failed reading has no value, and is repeated', async () => {
  let readings = 0;
  const read = shareReading(
    async () => {
      readings += 1;
      if (readings === 1) throw new Error('x');
      return readings;
    },
    { what: 'x', log, maxAgeMs: 60_000 },
  );
  assert.deepEqual([await read(), await read()], [undefined, 2]);
});

test('scrapes don’t wait for a reading that hangs, and never start a second one', async () => {
  let readings = 0;
  const { promise, resolve } = Promise.withResolvers<number>();
  const read = shareReading(
    () => {
      readings += 1;
      return promise;
    },
    { what: 'x', log, maxAgeMs: 60_000 },
  );
  assert.deepEqual(await Promise.all([read(), read()]), [undefined, undefined]);
  assert.equal(readings, 1);
  resolve(7);
  assert.equal(await read(), 7);
});
