import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EmailAddress } from '../../../src/base/values/email-address.ts';
import { type AccountId, newMessageId } from '../../../src/base/values/ids.ts';
import { UnsubscribeTokens } from '../../../src/outcomes/unsubscribe/unsubscribe-token.ts';
import { testAccountFirst } from '../../support/account-first.ts';
import { addressesIn, FeedbackShop } from '../../support/feedback-shop.ts';
import { bodyWith } from '../../support/send-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { testKey } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

// List-Unsubscribe-Post is for https only.
const shop = await FeedbackShop.open({ PUBLIC_URL: 'https://mail.shop.test' });
const html =
  '<p>News.</p>{{#Unsubscribe Link}}<a href="{{Unsubscribe Link}}">no more</a>{{/Unsubscribe Link}}';
await shop.publish('news', html);

const local = (address: string): string =>
  address.replace('https://mail.shop.test', shop.service.url);
const post = (url: string, body = 'List-Unsubscribe=One-Click') =>
  sendRequest(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  });

test('RFC 8058 section 3.1: non-transactional mail carries both headers and the link', async () => {
  const { mail } = await shop.send('news');
  const [link = ''] = addressesIn(mail.html, 'href');
  assert.match(link, /^https:\/\/mail\.shop\.test\/u\/[A-Za-z0-9_-]+$/);
  assert.deepEqual(mail.headers['list-unsubscribe'], [`<${link}>`]);
  assert.deepEqual(mail.headers['list-unsubscribe-post'], ['List-Unsubscribe=One-Click']);
  assert.ok(!link.includes('people'));
});

test('transactional mail and mail with cc carry neither, and the link field is empty', async () => {
  for (const options of [{ transactional: true }, { cc: ['boss@people.test'] }]) {
    const { mail } = await shop.send('news', options);
    assert.equal(mail.headers['list-unsubscribe'], undefined);
    assert.equal(mail.headers['list-unsubscribe-post'], undefined);
    assert.deepEqual(addressesIn(mail.html, 'href'), []);
  }
});

test('opening the page changes nothing; one click unsubscribes, from non-transactional mail only', async () => {
  const to = 'Leaving@people.test';
  const { mail, id } = await shop.send('news', { to });
  const link = local(addressesIn(mail.html, 'href')[0] ?? '');
  const page = await sendRequest(link);
  assert.equal(page.status, 200);
  assert.match(page.text, /<form method="post"/);
  assert.doesNotMatch(page.text, /<script/);
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  const body = bodyWith({ envelope: { toAddress: to }, content: { personalizationDataMap: {} } });
  assert.equal((await shop.client.send({ template: 'news', body })).status, 200);

  assert.equal((await post(link)).status, 200);
  assert.equal((await post(link)).status, 200);
  const [event, ...more] = await shop.events(id, 'unsubscribed');
  assert.equal(event?.detail.how, 'one-click');
  assert.deepEqual(more, []);
  const refused = await shop.client.send({ template: 'news', body });
  assert.equal(refused.status, 400);
  assert.equal(refused.body.errorName, 'RECIPIENT_SUPPRESSED');
  const { metadata: _none, ...rest } = body as { metadata?: unknown };
  const transactional = { ...rest, metadata: { transactional: true } };
  assert.equal((await shop.client.send({ template: 'news', body: transactional })).status, 200);

  assert.equal((await post(`${link}/undo`, '')).status, 200);
  assert.equal((await shop.client.send({ template: 'news', body })).status, 200);
});

test('an unsubscription undone at once stays undone when its event is processed', async () => {
  const { mail, id } = await shop.send('news', { to: 'wavering@people.test' });
  const link = local(addressesIn(mail.html, 'href')[0] ?? '');
  assert.equal((await post(link)).status, 200);
  assert.equal((await post(`${link}/undo`, '')).status, 200);
  await waitFor('the follower to have passed the event', async () => {
    const { rows } = await shop.database.pool.query<{ passed: boolean }>(
      `select (select min(tx) from feed_cursor where follower = 'suppression') > max(tx) as passed
       from message_event where message_id = $1 and kind = 'unsubscribed'`,
      [id],
    );
    return rows[0]?.passed;
  });
  const { rows } = await shop.database.pool.query(
    "select reason from suppression where address = 'wavering@people.test'",
  );
  assert.deepEqual(rows, []);
});

test('multipart bodies from email clients are accepted, even if the message is already erased', async () => {
  const { mail, id } = await shop.send('news', { to: 'erased@people.test' });
  await shop.database.pool.query('update message set content = null where id = $1', [id]);
  const form = new FormData();
  form.set('List-Unsubscribe', 'One-Click');
  const response = await sendRequest(local(addressesIn(mail.html, 'href')[0] ?? ''), {
    method: 'POST',
    body: form,
  });
  assert.equal(response.status, 200);
  const { rows } = await shop.database.pool.query(
    "select reason from suppression where address = 'erased@people.test'",
  );
  assert.deepEqual(rows, [{ reason: 'unsubscribe' }]);
});

test('RFC 8058 section 3.2: a POST without the one-click field changes nothing, and the page’s button unsubscribes', async () => {
  const { mail } = await shop.send('news', { to: 'probed@people.test' });
  const link = local(addressesIn(mail.html, 'href')[0] ?? '');
  const reasons = async () => {
    const { rows } = await shop.database.pool.query(
      "select reason from suppression where address = 'probed@people.test'",
    );
    return rows;
  };
  for (const body of ['', 'x=1', 'List-Unsubscribe=No']) {
    const page = await post(link, body);
    assert.equal(page.status, 200);
    assert.match(page.text, /Unsubscribe\?/);
    assert.deepEqual(await reasons(), [], body);
  }
  const [, name = '', value = ''] =
    /<input type="hidden" name="(\w+)" value="(\w+)">/.exec((await sendRequest(link)).text) ?? [];
  await post(link, `${name}=${value}`);
  assert.deepEqual(await reasons(), [{ reason: 'unsubscribe' }]);
});

test('a modified token is rejected', async () => {
  const { mail } = await shop.send('news');
  const link = local(addressesIn(mail.html, 'href')[0] ?? '');
  const changed = `${link.slice(0, -2)}${link.endsWith('AA') ? 'BB' : 'AA'}`;
  assert.equal((await sendRequest(changed)).status, 404);
  assert.equal((await post(changed)).status, 404);
  assert.equal((await post(`${shop.service.url}/u/x`)).status, 404);
});

test('tokens are deterministic and contain the message, account and address', () => {
  const tokens = new UnsubscribeTokens(testKey);
  const message = {
    accountId: 'a' as AccountId,
    messageId: newMessageId(),
    retentionDays: 90,
    address: 'ann@people.test' as EmailAddress,
  };
  assert.equal(tokens.make(message), tokens.make(message));
  assert.deepEqual(tokens.read(tokens.make(message)), message);
  assert.notEqual(tokens.make(message), tokens.make({ ...message, accountId: 'b' as AccountId }));
});

testAccountFirst(5);
