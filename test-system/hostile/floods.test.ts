import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxEngagements, maxFeedbackEvents } from '../../src/outcomes/event-limits.ts';
import { addressesIn, FeedbackShop } from '../../test/support/feedback-shop.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { startTestService } from '../../test/support/test-service.ts';

const shop = await FeedbackShop.open({ INTAKE_POSTMARK_PASSWORD: 'a long password' });
await shop.publish(
  'links',
  '<p><a href="https://shop.test/one">one</a> <a href="https://shop.test/two">two</a></p>',
);
await shop.publish('news', '<p>News. <a href="{{Unsubscribe Link}}">no more</a></p>');

const browser =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';

const scanner = 'Barracuda Sentinel (EE)';

/** Requests a URL `count` times, twenty at once. @returns the statuses */
async function flood(url: string, times: number, userAgent = browser): Promise<Set<number>> {
  const statuses = new Set<number>();
  for (let done = 0; done < times; done += 20) {
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => sendRequest(url, { headers: { 'user-agent': userAgent } })),
    );
    for (const { status } of responses) statuses.add(status);
  }
  return statuses;
}

/** Waits until all earlier opens and clicks are written; batches are written in order. */
async function waitForWriter(): Promise<void> {
  const { mail, id } = await shop.send('links', { trackOpens: true });
  await flood(addressesIn(mail.html, 'src')[0] ?? '', 20);
  await shop.waitForEvents(id, 'opened', 20);
}

test('ASVS 4.0.3 11.1.4: one recipient’s open image stores a few events, and always loads', async () => {
  const { mail, id } = await shop.send('links', { trackOpens: true });
  const image = addressesIn(mail.html, 'src')[0] ?? '';
  assert.deepEqual(await flood(image, 1_000), new Set([200]));
  await waitForWriter();
  assert.equal((await shop.events(id, 'opened')).length, maxEngagements);
  assert.deepEqual(await flood(image, 200), new Set([200]));
  await waitForWriter();
  assert.equal((await shop.events(id, 'opened')).length, maxEngagements);
});

test('ASVS 4.0.3 11.1.4: limits persist across restarts and nodes', async () => {
  const { mail, id } = await shop.send('links', { trackOpens: true });
  const image = addressesIn(mail.html, 'src')[0] ?? '';
  await flood(image, 100);
  await waitForWriter();
  const node = await startTestService({ databaseUrl: shop.databaseUrl });
  await flood(image.replace(shop.service.url, node.url), 100);
  await node.stop();
  assert.equal((await shop.events(id, 'opened')).length, maxEngagements);
});

test('ASVS 4.0.3 11.1.4: a flood of clicks on one link leaves capacity for the other link, and a flood by machines for people', async () => {
  const { mail, id } = await shop.send('links', { trackClicks: true });
  const [one = '', two = ''] = addressesIn(mail.html, 'href');
  assert.deepEqual(await flood(one, 200, scanner), new Set([302]));
  assert.deepEqual(await flood(one, 200), new Set([302]));
  await waitForWriter();
  await sendRequest(two, { headers: { 'user-agent': browser } });
  await waitForWriter();
  const clicks = (await shop.events(id, 'clicked')).map(
    ({ detail }) => `${detail.link} ${detail.class}`,
  );
  const countOf = (which: string): number => clicks.filter((click) => click === which).length;
  assert.equal(countOf('0 scanner'), maxEngagements);
  assert.equal(countOf('0 person'), maxEngagements);
  assert.equal(countOf('1 person'), 1);
});

test('ASVS 4.0.3 11.1.4: a report sender’s repeated reports store a few events for each recipient', async () => {
  const { mail, id } = await shop.send('links', {
    to: 'someone@people.test',
    cc: ['copy@people.test'],
  });
  const token = mail.headers['x-pm-metadata-signalpost-message']?.[0];
  const report = (number: number, address: string) =>
    sendRequest(`${shop.service.url}/intake/postmark`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Basic ${Buffer.from('x:a long password').toString('base64')}`,
      },
      body: JSON.stringify({
        RecordType: 'SpamComplaint',
        ID: number,
        Type: 'SpamComplaint',
        Email: address,
        Metadata: { 'signalpost-message': token },
      }),
    });
  for (let number = 0; number < maxFeedbackEvents + 20; number += 1)
    assert.equal((await report(number, 'someone@people.test')).status, 200);
  assert.equal((await report(1_000, 'copy@people.test')).status, 200);
  const complaints = await shop.events(id, 'complained');
  assert.equal(complaints.filter(({ recipient }) => recipient === 0).length, maxFeedbackEvents);
  assert.equal(complaints.filter(({ recipient }) => recipient === 1).length, 1);
});

test('ASVS 4.0.3 11.1.4: repeatedly unsubscribing and undoing it stores only a few events', async () => {
  const to = 'undecided@people.test';
  const { mail, id } = await shop.send('news', { to });
  const link = addressesIn(mail.html, 'href')[0] ?? '';
  const post = (url: string) =>
    sendRequest(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    });
  for (let time = 0; time < maxFeedbackEvents + 20; time += 1) {
    assert.equal((await post(link)).status, 200);
    assert.equal((await post(`${link}/undo`)).status, 200);
  }
  assert.equal((await shop.events(id, 'unsubscribed')).length, maxFeedbackEvents);
  // Genuine unsubscriptions still work.
  assert.equal((await post(link)).status, 200);
  const { rows } = await shop.database.pool.query('select from suppression where address = $1', [
    to,
  ]);
  assert.equal(rows.length, 1);
});
