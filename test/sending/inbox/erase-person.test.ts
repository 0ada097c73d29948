import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTransport } from 'nodemailer';
import { testAccountFirst } from '../../support/account-first.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import { getToken } from '../../support/shop.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { service, owner, path, shop } = await openTestShop();
const transport = createTransport({ host: '127.0.0.1', port: service.app.inboxPort(), pool: true });
after(() => transport.close());

/** Recipients of the mail in the inbox, except system mail. */
async function captured(): Promise<string[]> {
  const mails = await readInbox(service.url, '?limit=200');
  return mails
    .filter(({ envelopeFrom }) => !envelopeFrom.startsWith('signalpost@'))
    .map(({ envelopeTo }) => envelopeTo.join(' '));
}

test("erasing a person removes their captured mail, including copies for others, and keeps other people's", async () => {
  const sender = new SendClient(service, await getToken(service, shop));
  const envelopes = [
    { toAddress: 'Eve@person.example' },
    { toAddress: 'friend@person.example', ccAddressList: ['eve@person.example'] },
    { toAddress: 'eve@person.example', bccAddressList: ['blind@person.example'] },
    { toAddress: 'friend@person.example' },
    { toAddress: 'steve@person.example' },
  ];
  for (const envelope of envelopes) await sender.send({ body: bodyWith({ envelope }) });
  await waitFor('the mails', async () => (await captured()).length === envelopes.length + 2);
  const erased = await owner.delete(`${path}/people/eve@person.example`);
  assert.equal(erased.status, 200);
  assert.deepEqual((await captured()).sort(), ['friend@person.example', 'steve@person.example']);
});

test('redirected mail is removed with its original recipient; mail from another account stays', async () => {
  await transport.sendMail({
    from: 'orders@shop.test',
    to: 'staging@shop.test',
    headers: { 'X-Signalpost-Original-To': 'friend@person.example, Ann@person.example' },
    text: 'Good day',
  });
  await transport.sendMail({
    from: 'orders@neighbour.test',
    to: 'ann@person.example',
    // As delivery names the account.
    dsn: { id: '7777' },
    text: 'Good day',
  });
  const before = await captured();
  assert.ok(before.includes('staging@shop.test'));
  await owner.delete(`${path}/people/ann@person.example`);
  const left = await captured();
  assert.equal(left.length, before.length - 1);
  assert.ok(left.includes('ann@person.example'));
});

testAccountFirst(20);
