import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admitMail } from '../../../src/sending/delivery/admit-mail.ts';
import { admitAlways, withoutServer } from '../../../src/sending/delivery/transport.ts';

/** Asks about addresses; those in `waiting` have to wait. */
function asking(waiting: readonly string[] = []) {
  const asked: string[] = [];
  const admit = async (address: string) => {
    asked.push(address);
    if (waiting.includes(address)) return { delayMs: 1_000, reason: 'throttled' };
    return admitAlways(async () => withoutServer({ kind: 'stopped' }));
  };
  return { admit, asked };
}

const addresses = ['to@a.test', 'b1@a.test', 'b2@a.test'];

test('only the first recipient gets permission before it is sent to, so a message never blocks itself', async () => {
  const { admit, asked } = asking();
  const admission = await admitMail(admit, addresses);
  assert.deepEqual(asked, ['to@a.test']);
  assert.ok(admission.transaction);
  assert.deepEqual([...admission.postponed], []);
  assert.deepEqual(admission.addresses, addresses);
});

test('if a recipient has to wait, the next one is asked about', async () => {
  const { admit, asked } = asking(['to@a.test']);
  const admission = await admitMail(admit, addresses);
  assert.deepEqual(asked, ['to@a.test', 'b1@a.test']);
  assert.deepEqual([...admission.postponed.keys()], ['to@a.test']);
  assert.ok(admission.transaction);
  assert.deepEqual(admission.addresses, ['b1@a.test', 'b2@a.test']);
});

test('if all recipients have to wait, there is no transaction', async () => {
  const { admit } = asking(addresses);
  const admission = await admitMail(admit, addresses);
  assert.deepEqual([...admission.postponed.keys()], addresses);
  assert.equal(admission.transaction, undefined);
  assert.deepEqual(admission.addresses, []);
});
