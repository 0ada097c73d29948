import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addKey } from '../support/api-key.ts';
import { startSink } from '../support/mail-sink.ts';
import { readSentMail } from '../support/read-mail.ts';
import { bodyWith, SendClient } from '../support/send-client.ts';
import { publishShopTemplate } from '../support/shop.ts';
import { openTestShop } from '../support/test-shop.ts';
import { waitFor } from '../support/wait-for.ts';

/** Replies to RCPT by address. */
const replies = new Map<string, string>();
const sink = await startSink({ onRcpt: (address) => replies.get(address) });
const { database, shop, service, client } = await openTestShop({
  environment: { SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off` },
});
await publishShopTemplate(database, shop, {
  id: 't-secret',
  sender: 'orders@shop.test',
  source: { previewText: '', fields: { Code: { secret: true } }, html: '<p>{{Code}}' },
});
const clients = [client, new SendClient(service, await addKey(database, shop.id))] as const;

const people = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${name}${n}@example.test`);

async function send(envelope: Record<string, unknown>): Promise<string> {
  const response = await client.send({ body: bodyWith({ envelope }) });
  assert.equal(response.status, 200, response.text);
  return String(response.body.messageId);
}

type Recipient = { address: string; role: string; state: string };

/** The recipients once none of them waits any more. */
async function settled(id: string, state = 'delivered'): Promise<Recipient[]> {
  return await waitFor('all recipients to be settled', async () => {
    const { body } = await client.status(id);
    const recipients = body.recipients as Recipient[];
    return (
      recipients.every((one) => one.state === 'delivered' || one.state === state) && recipients
    );
  });
}

test('each recipient has its own transaction and events, and no header shows one', async () => {
  const [toAddress, ccAddressList, bccAddressList] = [
    'to@example.test',
    people('cc', 2),
    people('blind', 5),
  ];
  const id = await send({ toAddress, ccAddressList, bccAddressList });
  const recipients = await settled(id);
  assert.deepEqual(
    recipients.map(({ address, role }) => [address, role]),
    [
      [toAddress, 'to'],
      ...ccAddressList.map((address) => [address, 'cc']),
      ...bccAddressList.map((address) => [address, 'bcc']),
    ],
  );
  assert.deepEqual(
    sink.mails.map(({ to }) => to.join()).sort(),
    [toAddress, ...ccAddressList, ...bccAddressList].sort(),
  );
  const [first] = sink.mails;
  for (const { source } of sink.mails) {
    assert.equal(source.includes('blind'), false);
    assert.equal(source, first?.source, 'every recipient gets the same bytes');
  }
  const parsed = readSentMail(first?.source ?? '');
  assert.equal(parsed.fields.get('bcc'), undefined);
  assert.equal(parsed.fields.get('list-unsubscribe'), undefined);
  assert.deepEqual(
    parsed.mailboxes('cc').map(({ address }) => address),
    ccAddressList,
  );
  const { body } = await client.status(id);
  const events = (body.events as { kind: string; recipient: number }[])
    .filter(({ kind }) => kind === 'delivered')
    .map(({ recipient }) => recipient);
  assert.deepEqual(events.toSorted(), [0, 1, 2, 3, 4, 5, 6, 7]);
});

test('a message with Bcc alone has no Cc header and no one-click unsubscribe', async () => {
  const plain = await send({ toAddress: 'plain@example.test' });
  const copied = await send({
    toAddress: 'copied@example.test',
    bccAddressList: ['b@example.test'],
  });
  await settled(plain);
  await settled(copied);
  const sourceTo = (address: string) =>
    sink.mails.find(({ to }) => to[0] === address)?.source ?? '';
  assert.match(sourceTo('plain@example.test'), /^List-Unsubscribe:/im);
  for (const address of ['copied@example.test', 'b@example.test']) {
    assert.match(sourceTo(address), /^To: copied@example\.test\r$/m);
    assert.doesNotMatch(sourceTo(address), /^(?:List-Unsubscribe|Cc|Bcc|Resent-)/im);
  }
});

test('a rejected Bcc address changes nothing for the others', async () => {
  replies.set('no@example.test', '550 5.1.1 No such user');
  const id = await send({
    toAddress: 'yes@example.test',
    bccAddressList: ['no@example.test', 'also@example.test'],
  });
  const recipients = await settled(id, 'bounced');
  assert.deepEqual(
    recipients.map(({ state }) => state),
    ['delivered', 'bounced', 'delivered'],
  );
  const { body } = await client.status(id);
  assert.equal(body.state, 'delivered');
});

test('a deferred Bcc recipient is retried alone', async () => {
  replies.set('later@example.test', '450 4.2.0 Busy');
  const id = await send({
    toAddress: 'now@example.test',
    bccAddressList: ['later@example.test'],
  });
  await settled(id, 'deferred');
  const { rows } = await database.pool.query(
    'select recipient from queued_delivery where message_id = $1',
    [id],
  );
  assert.deepEqual(rows, [{ recipient: 1 }]);
  replies.delete('later@example.test');
  await database.pool.query('update queued_delivery set due_at = now() where message_id = $1', [
    id,
  ]);
  await settled(id);
  const about = sink.mails.filter(({ to }) => /now@|later@/.test(to.join()));
  assert.deepEqual(
    about.map(({ to }) => to),
    [['now@example.test'], ['later@example.test']],
  );
});

test('a suppressed Bcc address is skipped and returned', async () => {
  for (const list of ['gone@example.test', 'gone2@example.test'])
    await database.pool.query(
      `insert into suppression (account_id, address, reason, created_at) values ($1, $2, 'hard_bounce', now())`,
      [shop.id, list],
    );
  const response = await client.send({
    body: bodyWith({
      envelope: {
        toAddress: 'x@example.test',
        ccAddressList: ['gone2@example.test', 'c@example.test'],
        bccAddressList: ['gone@example.test', 'kept@example.test'],
      },
    }),
  });
  assert.deepEqual((response.body.suppressedRecipients as string[]).toSorted(), [
    'gone2@example.test',
    'gone@example.test',
  ]);
  const recipients = await settled(String(response.body.messageId));
  assert.deepEqual(
    recipients.map(({ address, role }) => `${role} ${address}`),
    ['to x@example.test', 'cc c@example.test', 'bcc kept@example.test'],
  );
  const visible = sink.mails.find(({ to }) => to.includes('x@example.test'));
  assert.match(visible?.source ?? '', /^Cc: c@example\.test\r$/m);
});

test('bccAddressList can have 5 addresses and not one more, for a token and a key', async () => {
  for (const one of clients) {
    const detailsOf = async (bccAddressList: unknown) => {
      const envelope = { toAddress: 'to@example.test', bccAddressList };
      const { status, body } = await one.send({ body: bodyWith({ envelope }) });
      return status === 200 ? 'OK' : body.details;
    };
    assert.equal(await detailsOf(people('b', 5)), 'OK');
    assert.equal(await detailsOf([]), 'OK');
    assert.deepEqual(await detailsOf(people('b', 6)), [
      { field: 'envelope.bccAddressList', reason: 'must not have more than 5 entries' },
    ]);
    assert.deepEqual(await detailsOf(['b@example.test', 'none']), [
      { field: 'envelope.bccAddressList[1]', reason: 'is not an email address: it has no @' },
    ]);
  }
});

test('a template with secret fields refuses Bcc, together with all other problems', async () => {
  const refuse = {
    field: 'envelope.bccAddressList',
    reason: 'can’t be used with a template that has secret fields; remove it',
  };
  const sendSecret = async (more: Record<string, Record<string, unknown>> = {}) => {
    const body = bodyWith({
      content: { personalizationDataMap: { Code: '1', 'Order Number': 'A' } },
      ...more,
      envelope: { toAddress: 'to@example.test', ...more.envelope },
    });
    const response = await client.send({ template: 't-secret', body });
    return response.status === 200 ? 'OK' : [response.body.errorName, response.body.details];
  };
  assert.equal(await sendSecret({ envelope: { ccAddressList: ['c@example.test'] } }), 'OK');
  assert.equal(await sendSecret({ envelope: { bccAddressList: [] } }), 'OK');
  const bccAddressList = ['b@example.test'];
  assert.deepEqual(await sendSecret({ envelope: { bccAddressList } }), [
    'VALIDATION_FAILED',
    [refuse],
  ]);
  assert.deepEqual(await sendSecret({ envelope: { bccAddressList }, content: { x: 1 } }), [
    'VALIDATION_FAILED',
    [{ field: 'content.x', reason: 'is not a field of this request' }, refuse],
  ]);
});

test('a Bcc address that is also visible gets the message once', async () => {
  const id = await send({
    toAddress: 'same@example.test',
    bccAddressList: ['same@example.test', 'other@example.test', 'other@example.test'],
  });
  const recipients = await settled(id);
  assert.equal(recipients.length, 4);
  const about = sink.mails.filter(({ to }) => /same@|other@/.test(to.join()));
  assert.deepEqual(about.map(({ to }) => to.join()).sort(), [
    'other@example.test',
    'same@example.test',
  ]);
  assert.deepEqual(
    recipients.map(({ state }) => state),
    ['delivered', 'delivered', 'delivered', 'delivered'],
  );
});

test('an internationalized Bcc address is sent with SMTPUTF8 and leaves the others alone', async () => {
  const id = await send({
    toAddress: 'ascii@example.test',
    bccAddressList: ['jürgen@example.test'],
  });
  await settled(id);
  const about = sink.mails.filter(({ to }) => /ascii@|jürgen@/.test(to.join()));
  assert.equal(about.length, 2);
  for (const { source } of about) assert.match(source, /^[\r\n\t -~]*$/);
});
