import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ReplicaLag } from '../../src/foundation/database/replica/replica-lag.ts';
import { comparePositions } from '../../src/foundation/database/replica/replica-position-store.ts';
import { shareNext } from '../../src/foundation/database/replica/share-next.ts';

test('positions are compared as numbers, not as text', () => {
  assert.ok(comparePositions('0/9', '0/10') < 0);
  assert.ok(comparePositions('A/0', '9/FFFFFFFF') > 0);
  assert.equal(comparePositions('16/B374D848', '16/B374D848'), 0);
});

test('a replica lags since the primary was last where the replica is, and more with every moment', () => {
  const lag = new ReplicaLag();
  assert.equal(lag.measure(0), undefined);
  lag.notePrimary('0/100', 1_000);
  lag.noteReplica('0/50');
  assert.equal(lag.measure(1_000), undefined, 'it was never seen close enough');
  lag.noteReplica('0/100');
  assert.equal(lag.measure(1_010), 10);
  lag.notePrimary('0/200', 2_000);
  lag.notePrimary('0/300', 3_000);
  lag.noteReplica('0/2FF');
  assert.equal(lag.measure(3_500), 1_500);
  lag.noteReplica('0/100');
  assert.equal(lag.measure(3_500), 1_500, 'an old answer takes nothing back');
  lag.clear();
  assert.equal(lag.measure(3_500), undefined);
});

test('an idle primary leaves no lag', () => {
  const lag = new ReplicaLag();
  for (const at of [1_000, 2_000, 3_000]) {
    lag.notePrimary('0/100', at);
    lag.noteReplica('0/100');
  }
  assert.equal(lag.measure(3_000), 0);
});

test('a shared reading began after it was asked for, and only one runs at a time', async () => {
  const readings: PromiseWithResolvers<number>[] = [];
  const read = shareNext(() => {
    const reading = Promise.withResolvers<number>();
    readings.push(reading);
    return reading.promise;
  });
  const first = read();
  const [second, third] = [read(), read()];
  assert.equal(readings.length, 1);
  readings[0]?.resolve(1);
  assert.equal(await first, 1);
  await new Promise(setImmediate);
  assert.equal(readings.length, 2);
  readings[1]?.reject(new Error('lost'));
  await assert.rejects(second, /lost/);
  await assert.rejects(third, /lost/);
  const fourth = read();
  readings[2]?.resolve(4);
  assert.equal(await fourth, 4);
});
