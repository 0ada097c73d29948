import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testAccountFirst } from '../../support/account-first.ts';
import { addressesIn, FeedbackShop } from '../../support/feedback-shop.ts';
import { sendRequest } from '../../support/send-request.ts';
import { inboxHeaders } from '../../support/service-tokens.ts';
import { openGate, type TcpGate } from '../../support/tcp-gate.ts';

const shop = await FeedbackShop.open();
const browser =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';
const asBrowser = { headers: { 'user-agent': browser } };

await shop.publish(
  'links',
  `<p>Hello {{Name}}</p>
   <a href="https://shop.test/order?id={{Order}}&amp;from=mail#top">order</a>
   <a href="{{Place}}">place</a>
   <a href="https://shop.test/reset/{{Code}}">reset</a>
   <a href="https://shop.test/plain" data-track="off">plain</a>
   <a href="mailto:help@shop.test">help</a>
   <a href="#end">end</a>
   <a href="{{Unsubscribe Link}}">no more</a>`,
  {
    Name: { default: 'you' },
    Place: { default: 'https://shop.test/default' },
    Code: { secret: true },
  },
);
const values = { Order: 'A 1&2/ü', Code: 'hush' };

test('tracked links and the image are present only if the request asked for them', async () => {
  const { mail } = await shop.send('links', { values });
  assert.equal(addressesIn(mail.html, 'src').length, 0);
  assert.equal(addressesIn(mail.html, 'href').filter((href) => href.includes('/c/')).length, 0);
  const opens = await shop.send('links', { values, trackOpens: true });
  assert.equal(addressesIn(opens.mail.html, 'src').length, 1);
  assert.equal(
    addressesIn(opens.mail.html, 'href').filter((href) => href.includes('/c/')).length,
    0,
  );
});

test('a tracked link in a list leads where the link of its item led', async () => {
  await shop.publish(
    'list-links',
    '{{#Items}}<a href="https://shop.test/{{Id}}?of={{Order}}">{{Id}}</a>{{#Parts}}<a href="{{Page}}">p</a>{{/Parts}}{{/Items}}',
    { Items: { kind: 'list', fields: { Parts: { kind: 'list', default: [] } } } },
  );
  const { mail, id } = await shop.send('list-links', {
    values: {
      Order: 'A/1',
      Items: [
        { Id: 'one', Parts: [{ Page: 'https://a.test/' }, { Page: 'https://b.test/?x=1' }] },
        { Id: 'zwei ü', Order: 'own' },
      ],
    },
    trackClicks: true,
  });
  const links = addressesIn(mail.html, 'href').filter((href) => href.includes('/c/'));
  const targets = await Promise.all(
    links
      .slice(0, 4)
      .map(async (link) => (await sendRequest(link, asBrowser)).headers.get('location')),
  );
  assert.deepEqual(targets, [
    'https://shop.test/one?of=A%2F1',
    'https://a.test/',
    'https://b.test/?x=1',
    'https://shop.test/zwei%20%C3%BC?of=own',
  ]);
  assert.ok(id);
});

test('a tracked link leads to the original target and nowhere else', async () => {
  const { mail, id } = await shop.send('links', {
    values: { ...values, Place: 'https://other.test/x?y=1' },
    trackClicks: true,
  });
  const [order = '', place = '', reset, plain, help, end] = addressesIn(mail.html, 'href');
  assert.equal(reset, 'https://shop.test/reset/hush');
  assert.equal(plain, 'https://shop.test/plain');
  assert.equal(help, 'mailto:help@shop.test');
  assert.equal(end, '#end');
  const response = await sendRequest(order, asBrowser);
  assert.equal(response.status, 302);
  assert.equal(
    response.headers.get('location'),
    'https://shop.test/order?id=A%201%262%2F%C3%BC&from=mail#top',
  );
  assert.equal(
    (await sendRequest(place, asBrowser)).headers.get('location'),
    'https://other.test/x?y=1',
  );
  const events = await shop.waitForEvents(id, 'clicked', 2);
  assert.deepEqual(
    events.map(({ detail }) => [detail.class, detail.link, detail.network]),
    [
      ['person', 0, '127.0.0.0/24'],
      ['person', 1, '127.0.0.0/24'],
    ],
  );
});

test('a line break in a link is dropped, as a browser does', async () => {
  await shop.publish('broken', '<a href="https://shop.test/a\n?b=\t1">x</a>');
  const { mail } = await shop.send('broken', { trackClicks: true });
  const [link = ''] = addressesIn(mail.html, 'href');
  const { headers } = await sendRequest(link, asBrowser);
  assert.equal(headers.get('location'), 'https://shop.test/a?b=1');
});

test('a missing value is the default of the version', async () => {
  const { mail } = await shop.send('links', { values, trackClicks: true });
  const place = addressesIn(mail.html, 'href')[1] ?? '';
  assert.equal(
    (await sendRequest(place, asBrowser)).headers.get('location'),
    'https://shop.test/default',
  );
});

test('a modified token redirects nowhere and records nothing', async () => {
  const { mail, id } = await shop.send('links', { values, trackClicks: true, trackOpens: true });
  const link = addressesIn(mail.html, 'href')[0] ?? '';
  for (const at of [link.length - 1, link.length - 30, link.indexOf('/c/') + 4]) {
    const changed = link.slice(0, at) + (link[at] === 'A' ? 'B' : 'A') + link.slice(at + 1);
    assert.equal((await sendRequest(changed, asBrowser)).status, 404);
  }
  assert.equal(
    (await sendRequest(`${shop.service.url}/c/${'A'.repeat(8_000)}`, asBrowser)).status,
    404,
  );
  const image = addressesIn(mail.html, 'src')[0] ?? '';
  // A token of one kind isn't valid as another.
  const swapped = link.replace(/\/c\/.*/, image.replace(/.*\/o\/(.*)\.gif/, '/c/$1'));
  assert.equal((await sendRequest(swapped, asBrowser)).status, 404);
  assert.equal((await sendRequest(image.replace('.gif', 'AAAA.gif'), asBrowser)).status, 200);
  await sendRequest(image, asBrowser);
  await shop.waitForEvents(id, 'opened');
  assert.equal((await shop.events(id, 'opened', 'clicked')).length, 1);
});

test('HEAD gets the same response and is not counted', async () => {
  const { mail, id } = await shop.send('links', { values, trackClicks: true, trackOpens: true });
  const link = addressesIn(mail.html, 'href')[0] ?? '';
  const image = addressesIn(mail.html, 'src')[0] ?? '';
  const head = await sendRequest(link, { ...asBrowser, method: 'HEAD' });
  assert.equal(head.status, 302);
  assert.match(head.headers.get('location') ?? '', /^https:\/\/shop\.test\/order/);
  assert.equal((await sendRequest(image, { ...asBrowser, method: 'HEAD' })).status, 200);
  await sendRequest(image, asBrowser);
  const events = await shop.waitForEvents(id, 'opened');
  assert.equal(events.length, 1);
  assert.equal((await shop.events(id, 'clicked')).length, 0);
});

test('a reader who follows the hidden link is a scanner for all of its clicks', async () => {
  const { mail, id } = await shop.send('links', { values, trackClicks: true });
  const links = addressesIn(mail.html, 'href').filter((href) => href.includes('/c/'));
  assert.equal(links.length, 3);
  const responses = await Promise.all(
    [links[0], links[2]].map((link) => sendRequest(link ?? '', asBrowser)),
  );
  assert.deepEqual(
    responses.map(({ status }) => status),
    [302, 204],
  );
  const events = await shop.waitForEvents(id, 'clicked', 2);
  assert.deepEqual(
    events.map(({ detail }) => [detail.class, detail.reason]),
    Array.from({ length: 2 }, () => ['scanner', 'followed the hidden link']),
  );
});

test('a click before delivery is a scanner in transit', async () => {
  const { mail, id } = await shop.send('links', { values, trackClicks: true });
  await shop.database.pool.query(
    "update message set state_at = now() + interval '1 minute' where id = $1",
    [id],
  );
  await sendRequest(addressesIn(mail.html, 'href')[0] ?? '', asBrowser);
  const [event] = await shop.waitForEvents(id, 'clicked');
  assert.equal(event?.detail.class, 'scanner');
  assert.equal(event?.detail.reason, 'came before the message was delivered');
});

test('the same message has the same links on every attempt', async () => {
  const { mail, id } = await shop.send('links', { values, trackClicks: true, trackOpens: true });
  const { rows } = await shop.database.pool.query(
    `insert into queued_delivery (account_id, message_id, retention_days, priority, due_at, expires_at, recipient)
     select account_id, id, retention_days, 1, now(), now() + interval '1 hour', 0 from message where id = $1
     returning account_id`,
    [id],
  );
  assert.equal(rows.length, 1);
  // The values of secret fields are erased by now; everything else is unchanged.
  const again = await shop.waitForEvents(id, 'delivered', 2);
  assert.equal(again.length, 2);
  const { text } = await sendRequest(
    `${shop.service.url}/inbox/api/messages?to=${encodeURIComponent(mail.envelopeTo[0] ?? '')}`,
    { headers: inboxHeaders },
  );
  const mails = JSON.parse(text) as { html: string }[];
  assert.equal(mails.length, 2);
  assert.deepEqual(
    addressesIn(mails[0]?.html ?? '', 'href').filter((href) => href.includes('/c/')),
    addressesIn(mails[1]?.html ?? '', 'href').filter((href) => href.includes('/c/')),
  );
});

test('pending opens and clicks are written on shutdown', async () => {
  const own = await FeedbackShop.open();
  await own.publish('one', '<a href="https://shop.test/">shop</a>');
  const { mail, id } = await own.send('one', { trackClicks: true, trackOpens: true });
  for (let time = 0; time < 20; time += 1)
    await sendRequest(addressesIn(mail.html, 'src')[0] ?? '', asBrowser);
  await sendRequest(addressesIn(mail.html, 'href')[0] ?? '', asBrowser);
  await own.service.stop();
  assert.equal((await own.events(id, 'opened')).length, 20);
  assert.equal((await own.events(id, 'clicked')).length, 1);
});

test('links redirect while the database is down, and clicks are written once it is back', async () => {
  let gate: TcpGate | undefined;
  const own = await FeedbackShop.open({}, async (url) => {
    gate = await openGate(url);
    return gate.url;
  });
  await own.publish('one', '<a href="https://shop.test/">shop</a>');
  const { mail, id } = await own.send('one', { trackClicks: true });
  gate?.close();
  for (let time = 0; time < 3; time += 1) {
    const response = await sendRequest(addressesIn(mail.html, 'href')[0] ?? '', asBrowser);
    assert.equal(response.headers.get('location'), 'https://shop.test/');
  }
  gate?.open();
  assert.equal((await own.waitForEvents(id, 'clicked', 3)).length, 3);
});

testAccountFirst(5);
