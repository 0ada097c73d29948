import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alternativeBody } from '../../support/alternative-body.ts';
import { addressesIn } from '../../support/feedback-shop.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { readSentMail } from '../../support/read-mail.ts';
import { sendRequest } from '../../support/send-request.ts';
import { openSubmissionShop } from '../../support/submission-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await openSubmissionShop();
const { shop } = world;
const browser =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';
const asBrowser = { headers: { 'user-agent': browser } };
const tracked = { 'X-Signalpost-Track-Opens': 'true', 'X-Signalpost-Track-Clicks': 'true' };

const html = Buffer.from(
  '<html><body><a href="https://shop.test/ü?a=1&amp;b=2">a</a><a href="mailto:x@shop.test">b</a></body></html>',
).toString('base64');
const alternative = `MIME-Version: 1.0\r\n${alternativeBody(html, 'base64')}`;

function raw(fields: Readonly<Record<string, string>>, rest = alternative): string {
  const all = {
    From: 'Demo Shop <orders@shop.test>',
    Subject: 'Your invoice',
    'Message-ID': `<${Math.random()}@app.test>`,
    ...fields,
  };
  return `${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}${rest}`;
}

/** Submits a message and returns its ID and its mail. */
async function submit(to: string, source: string) {
  const client = await world.login();
  const reply = await client.submit([to], source);
  assert.match(reply, /^250 2\.6\.0 Accepted as /, reply);
  const [mail] = await readInbox(shop.service.url, `?to=${to}&wait=60`);
  await client.end();
  const id = reply.slice(-36);
  await waitFor('the delivery', async () => (await shop.state(id)) === 'delivered');
  const text = mail?.source ?? '';
  return { id, source: text, html: readSentMail(text).html ?? '' };
}

test('opens and clicks of a message that was submitted complete are recorded', async () => {
  const { id, html, source } = await submit('both@people.test', raw(tracked));
  assert.doesNotMatch(source, /x-signalpost/i);
  assert.match(source, /\r\nSee https:\/\/shop\.test\/a\r\n--b\r\n/);
  const [link = '', mailto, hidden = ''] = addressesIn(html, 'href');
  assert.equal(mailto, 'mailto:x@shop.test');
  const [image = ''] = addressesIn(html, 'src');
  const response = await sendRequest(link, asBrowser);
  assert.equal(response.status, 302);
  assert.equal(response.headers.get('location'), 'https://shop.test/%C3%BC?a=1&b=2');
  assert.equal((await sendRequest(hidden, asBrowser)).status, 204);
  assert.equal((await sendRequest(image, asBrowser)).status, 200);
  const clicks = await shop.waitForEvents(id, 'clicked', 2);
  assert.deepEqual(clicks.map(({ detail }) => detail.link).sort(), [0, undefined]);
  await shop.waitForEvents(id, 'opened', 1);
});

test('only what was asked for is tracked', async () => {
  const opens = await submit('opens@people.test', raw({ 'X-Signalpost-Track-Opens': 'true' }));
  assert.equal(addressesIn(opens.html, 'href')[0], 'https://shop.test/ü?a=1&b=2');
  assert.equal(addressesIn(opens.html, 'src').length, 1);
  const clicks = await submit('clicks@people.test', raw({ 'X-Signalpost-Track-Clicks': 'true' }));
  assert.match(addressesIn(clicks.html, 'href')[0] ?? '', /\/c\//);
  assert.equal(addressesIn(clicks.html, 'src').length, 0);
});

test('a message without HTML arrives byte for byte', async () => {
  const rest = 'Content-Type: text/plain\r\n\r\nSee https://shop.test/a\r\n';
  const { source } = await submit('plain@people.test', raw(tracked, rest));
  assert.ok(source.endsWith(rest), source);
});

test('a modified token leads nowhere', async () => {
  const { html } = await submit('modified@people.test', raw(tracked));
  const link = addressesIn(html, 'href')[0] ?? '';
  const changed = `${link.slice(0, -2)}${link.endsWith('AA') ? 'BB' : 'AA'}`;
  assert.equal((await sendRequest(changed, asBrowser)).status, 404);
});

test('what can’t be tracked is refused, with the field and the reason', async () => {
  const signed = alternative.replace('multipart/alternative', 'multipart/signed');
  const client = await world.login();
  const reply = await client.submit(
    ['signed@people.test'],
    raw({ 'X-Signalpost-Track-Clicks': 'true' }, signed),
  );
  assert.equal(
    reply,
    "554 5.6.0 Invalid message: X-Signalpost-Track-Clicks can't be used in a signed or encrypted message (multipart/signed)",
  );
  assert.match(await client.submit(['signed@people.test'], raw({}, signed)), /^250 /);
});
