import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MasterKey } from '../../../src/base/secrets/master-key.ts';
import { SignedLocalParts } from '../../../src/base/secrets/signed-local-part.ts';
import { type AccountId, type MessageId, newMessageId } from '../../../src/base/values/ids.ts';
import { accountTagOf } from '../../../src/content/message/account-tag.ts';
import { ReturnPaths } from '../../../src/sending/delivery/return-path.ts';

const paths = new ReturnPaths(new MasterKey(Buffer.alloc(32, 1)));
const accountId = 'shop_1' as AccountId;
const others = new ReturnPaths(new MasterKey(Buffer.alloc(32, 2)));

test('a return path identifies its message and recipient, ignoring case', () => {
  fc.assert(
    fc.property(fc.uuid({ version: 7 }), fc.nat(5), (id, recipient) => {
      const named = { messageId: id as MessageId, recipient };
      const address = paths.make({ ...named, accountId }, 'bounces.shop.test');
      assert.ok(address.indexOf('@') <= 64);
      const accountTag = accountTagOf(accountId);
      assert.deepEqual(paths.read(address), { ...named, accountTag });
      assert.deepEqual(paths.read(address.toUpperCase()), { ...named, accountTag });
    }),
  );
});

test('return paths of messages that were sent before accounts were in them are still read', () => {
  const key = new MasterKey(Buffer.alloc(32, 1));
  const messageId = newMessageId();
  const named = Buffer.from(`${messageId.replaceAll('-', '')}02`, 'hex');
  const earlier = new SignedLocalParts(key.keysFor('return path'), 'b-', 17).write(named);
  assert.equal(earlier.length, 46);
  assert.deepEqual(paths.read(`${earlier}@bounces.shop.test`), {
    messageId,
    recipient: 2,
    accountTag: undefined,
  });
});

test('a return path cannot be forged or changed without the key', () => {
  const address = paths.make({ accountId, messageId: newMessageId(), recipient: 0 }, 'b.test');
  assert.equal(others.read(address), undefined);
  for (let place = 2; place < address.indexOf('@'); place += 1) {
    for (const letter of 'abcz27') {
      if (address[place] === letter) continue;
      const forged = address.slice(0, place) + letter + address.slice(place + 1);
      assert.equal(paths.read(forged), undefined, forged);
    }
  }
});

test('arbitrary input is read safely', () => {
  fc.assert(fc.property(fc.string(), (text) => paths.read(`b-${text}@x.test`) === undefined));
  for (const text of ['', '@', 'b-@x.test', 'b-1@x.test', `b-${'a'.repeat(5_000)}@x.test`])
    assert.equal(paths.read(text), undefined);
});
