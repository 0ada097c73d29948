import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  InvalidIdError,
  NotDeliveredError,
  PersonalizationError,
  SenderNotAllowedError,
  Signalpost,
  type SignalpostEvent,
  SuppressedError,
  UnauthorizedError,
  ValidationError,
} from '../../packages/client/src/index.ts';
import type { ListId } from '../../src/base/values/ids.ts';
import { saveList } from '../../src/content/list/list-store.ts';
import { addKey } from '../support/api-key.ts';
import { FeedbackShop } from '../support/feedback-shop.ts';
import { readInbox } from '../support/inbox-client.ts';

const shop = await FeedbackShop.openShared();
await shop.publish('note', '<p>{{Name}}</p>', { Note: { default: '' } });
const { url } = shop.service;
const key = await addKey(shop.database, shop.shop.id);
const signalpost = new Signalpost({ url, key });

async function mailTo(address: string) {
  const [mail] = await readInbox(url, `?to=${encodeURIComponent(address)}&wait=60`);
  assert.ok(mail);
  return mail;
}

test('a link for the person who waits is in the result, and a private one in the error for a suppressed address', async () => {
  const send = (to: string, isPrivate: boolean) =>
    signalpost.send('note', { to, data: { Name: 'Ada' }, statusToken: { private: isPrivate } });
  const { statusUrl = '' } = await send('eve@links.test', false);
  assert.equal((await fetch(statusUrl)).status, 200);
  const { statusUrl: none } = await signalpost.send('note', { to: 'a@b.test', data: { Name: '' } });
  assert.equal(none, undefined);
  const [batched] = await signalpost.sendBatch('note', [
    { to: 'eve@links.test', data: { Name: 'Ada' }, statusToken: true },
  ]);
  assert.ok(batched?.ok && batched.statusUrl !== undefined);
  const suppressed = 'suppressed@simulator.test';
  for (const isPrivate of [true, false]) {
    const error: unknown = await send(suppressed, isPrivate).catch((reason: unknown) => reason);
    assert.ok(error instanceof SuppressedError);
    assert.equal(error.statusUrl !== undefined, isPrivate);
  }
});

test('an email is sent with everything that the operation takes', async () => {
  const { messageId, suppressedRecipients } = await signalpost.send('note', {
    to: { address: 'ada@readers.test', name: 'Ada' },
    cc: ['ben@people.test'],
    from: { address: 'orders@shop.test', name: 'Orders' },
    replyTo: 'orders@shop.test',
    subject: 'Hello {{Name}}',
    previewText: 'A note',
    data: { Name: 'Ada & Ben' },
    attachments: [
      { filename: 'one.txt', contentType: 'text/plain', content: new TextEncoder().encode('één') },
      { filename: 'two.txt', contentType: 'text/plain', content: btoa('two') },
    ],
    headers: { 'X-Order': 'A-1' },
    externalId: 'A-1',
    tag: 'notes',
    attributes: { order: 'A-1' },
    deliverWhenDelayed: false,
    deliverBefore: new Date(Date.now() + 3_600_000),
  });
  assert.deepEqual(suppressedRecipients, []);
  const mail = await mailTo('ada@readers.test');
  assert.equal(mail.subject, 'Hello Ada & Ben');
  assert.match(mail.source, /^X-Order: A-1\r?$/m);
  assert.match(mail.source, /^To: "?Ada"? <ada@readers\.test>\r?$/m);
  assert.match(mail.source, new RegExp(Buffer.from('één').toString('base64')));
  assert.match(mail.source, new RegExp(btoa('two')));
  const status = await signalpost.waitUntilDelivered(messageId);
  assert.equal(status.externalId, 'A-1');
  assert.equal(status.tag, 'notes');
  assert.deepEqual(status.attributes, { order: 'A-1' });
});

test('each kind of rejection is a separate error, with the details that the caller needs', async () => {
  const failure = async (promise: Promise<unknown>) =>
    await promise.then(
      () => assert.fail('it was accepted'),
      (error: unknown) => error,
    );
  const to = 'ada@people.test';
  const missing = await failure(signalpost.send('note', { to, data: {} }));
  assert.ok(missing instanceof PersonalizationError);
  assert.deepEqual(missing.missing, ['Name']);
  assert.equal(missing.status, 400);
  assert.match(String(missing.requestId), /^[0-9a-f-]{36}$/);

  const invalid = await failure(signalpost.send('note', { to: 'nobody', data: { Name: 'A' } }));
  assert.ok(invalid instanceof ValidationError);
  assert.equal(invalid.details[0]?.field, 'envelope.toAddress');
  assert.match(invalid.message, /envelope\.toAddress/);

  const sender = signalpost.send('note', { to, from: 'new@shop.test', data: { Name: 'A' } });
  assert.ok((await failure(sender)) instanceof SenderNotAllowedError);
  assert.ok((await failure(signalpost.send('none', { to }))) instanceof InvalidIdError);

  await signalpost.suppressions.add('gone@people.test');
  const suppressed = await failure(
    signalpost.send('note', { to: 'gone@people.test', data: { Name: 'A' } }),
  );
  assert.ok(suppressed instanceof SuppressedError);
  assert.deepEqual(suppressed.recipients, ['gone@people.test']);

  const wrong = `${key.slice(0, -50)}${'0'.repeat(43)}_000000`;
  const stranger = new Signalpost({ url, key: wrong });
  const refused = await failure(stranger.send('note', { to, data: { Name: 'A' } }));
  assert.ok(refused instanceof UnauthorizedError);
  assert.ok(!JSON.stringify(refused, Object.getOwnPropertyNames(refused)).includes(wrong));
});

test('a batch has a result for each message, in order', async () => {
  const results = await signalpost.sendBatch('note', [
    { to: 'first@people.test', data: { Name: 'First' } },
    { to: 'second@people.test', data: {} },
    { to: 'third@readers.test', data: { Name: 'Third' } },
  ]);
  assert.deepEqual(
    results.map((result) => (result.ok ? 'sent' : result.error.code)),
    ['sent', 'PERSONALIZATION_FAILURE', 'sent'],
  );
  assert.match((await mailTo('third@readers.test')).source, /Third/);
});

test('a scheduled message is canceled once', async () => {
  const { messageId } = await signalpost.schedule('note', new Date(Date.now() + 3_600_000), {
    to: 'ada@people.test',
    data: { Name: 'Ada' },
  });
  assert.equal(await signalpost.cancel(messageId), true);
  await assert.rejects(
    () => signalpost.waitUntilDelivered(messageId),
    (error) => error instanceof NotDeliveredError && error.state === 'canceled',
  );
  assert.equal(await signalpost.cancel(messageId), false);
});

test('suppressions are listed, read and removed', async () => {
  await signalpost.suppressions.add('a+b@people.test', 'unsubscribe');
  const found: string[] = [];
  for await (const { address } of signalpost.suppressions.list({ contains: 'a+b' }))
    found.push(address);
  assert.deepEqual(found, ['a+b@people.test']);
  assert.ok(await signalpost.suppressions.get('a+b@people.test'));
  await signalpost.suppressions.remove('a+b@people.test');
  assert.equal(await signalpost.suppressions.get('a+b@people.test'), undefined);
});

test('lists are those of the account', async () => {
  const before = (await signalpost.lists({ count: 1 })).totalCount;
  await saveList(shop.database.kysely, {
    accountId: shop.shop.id,
    id: 'l-0001' as ListId,
    name: 'News',
    folderName: '',
    description: '',
  });
  assert.equal((await signalpost.lists({ count: 1 })).totalCount, before + 1);
});

test('events are followed from a cursor until the signal', async () => {
  const { cursor } = await signalpost.events.list({ after: 'latest' });
  const { messageId } = await signalpost.send('note', {
    to: 'eve@people.test',
    data: { Name: 'Eve' },
  });
  const seen: SignalpostEvent[] = [];
  const ended = new AbortController();
  await assert.rejects(async () => {
    for await (const event of signalpost.events.stream(
      { after: cursor, kinds: ['accepted', 'delivered'] },
      { signal: ended.signal },
    )) {
      // Those of earlier tests may still be on their way.
      if (event.data.messageId !== messageId) continue;
      seen.push(event);
      if (event.type === 'message.delivered') ended.abort(new Error('enough'));
    }
  }, /enough/);
  assert.deepEqual(
    seen.map(({ type, data }) => [type, data.messageId]),
    [
      ['message.accepted', messageId],
      ['message.delivered', messageId],
    ],
  );
});

test('options that can’t work are refused at once', () => {
  assert.throws(() => new Signalpost({ url: 'mail.example.com', key }), /url must be/);
  assert.throws(() => new Signalpost({ url, key: 'secret' }), /begins with sp_/);
});
