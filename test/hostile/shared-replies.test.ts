import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clearInbox } from '../support/inbox-client.ts';
import { plainReply, ReplyShop } from '../support/reply-shop.ts';

const world = await ReplyShop.open();
const { pool } = world.shop.database;

test('ASVS 11.1.4: one recipient of many messages can’t use up the replies of an account', async () => {
  const to = 'mallory@people.test';
  const send = async (address: string) => {
    // Its mail is found by the address, so no earlier one may be there.
    await clearInbox(world.shop.service.url);
    return world.send({ to: address });
  };
  const messages = [await send(to), await send('Mallory@people.test')];
  for (const message of messages) {
    assert.match(await world.deliver(message.replyTo, plainReply()), /^250 /);
    await pool.query(
      `insert into message_reply (account_id, id, message_id, retention_days, fingerprint, size, automatic, hashes)
       select account_id, gen_random_uuid(), message_id, retention_days, int4send(i), 1000, false, '{}'
       from message_reply, generate_series(1, 55) as i where message_id = $1`,
      [message.id],
    );
  }
  const [message] = messages;
  assert.ok(message);
  assert.match(await world.deliver(message.replyTo, plainReply()), /^451 4\.2\.2 /);
  const another = await send(to);
  assert.match(await world.deliver(another.replyTo, plainReply()), /^451 4\.2\.2 /);
  const other = await send('ada@people.test');
  assert.match(await world.deliver(other.replyTo, plainReply()), /^250 /);
});
