import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReport } from '../../../src/outcomes/report/read-report-store.ts';
import { testAccountFirst } from '../../support/account-first.ts';
import { addKey } from '../../support/api-key.ts';
import { addressesIn, FeedbackShop } from '../../support/feedback-shop.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { addSender, publishShopTemplate, saveShop } from '../../support/shop.ts';
import { openGate, type TcpGate } from '../../support/tcp-gate.ts';
import { waitFor } from '../../support/wait-for.ts';

const shop = await FeedbackShop.open();
// API keys outlive the days that the tests skip.
const client = new SendClient(shop.service, await addKey(shop.database, shop.shop.id));
const target = 'https://auth.shop.test:8443/reset?token=ONE-TIME-TOKEN&then=%2Fhome#top';
const browser =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';
const scanner = 'Mozilla/5.0 (compatible; Barracuda Sentinel (EE))';

await shop.publish(
  'reset',
  '<p>Hello {{Name}}</p><a href="{{Reset URL}}">Reset</a><p>Or copy {{Reset URL}}</p>',
  { 'Reset URL': { guard: true }, Name: { default: 'you' } },
);

interface Visit {
  readonly method?: string;
  readonly agent?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function visit(link: string, { method = 'GET', agent = browser, body, headers = {} }: Visit = {}) {
  return sendRequest(link, {
    method,
    headers: {
      'user-agent': agent,
      ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
}

const press = (link: string, agent = browser) =>
  visit(link, { method: 'POST', agent, body: 'continue=1' });

async function send(values: Readonly<Record<string, unknown>> = {}, template = 'reset') {
  const { id, mail } = await shop.send(template, { values: { 'Reset URL': target, ...values } });
  const [link = ''] = addressesIn(mail.html, 'href');
  return { id, mail, link };
}

test('the mail has a link to this service in both parts, and only the button leads on', async () => {
  const { mail, link } = await send();
  assert.match(link, /\/g\/[A-Za-z0-9_-]+$/);
  assert.ok(link.startsWith(shop.service.url), link);
  assert.equal(mail.html?.split(link).length, 3);
  assert.ok(mail.text?.includes(link));
  assert.ok(!`${mail.html}${mail.text}`.includes('ONE-TIME'));

  const page = await visit(link);
  assert.equal(page.status, 200);
  assert.equal(page.headers.get('location'), null);
  assert.equal(page.headers.get('cache-control'), 'no-store');
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
  assert.equal(page.headers.get('x-robots-tag'), 'noindex, nofollow');
  assert.equal(page.headers.get('set-cookie'), null);
  const policy = page.headers.get('content-security-policy') ?? '';
  assert.match(
    policy,
    /^default-src 'none'; style-src 'sha256-[^']+'; frame-ancestors 'none'; base-uri 'none'$/,
  );
  assert.match(page.text, /<html lang="en">/);
  assert.match(page.text, /<h1>Continue to auth\.shop\.test:8443<\/h1>/);
  assert.doesNotMatch(page.text, /ONE-TIME|<script|<img|<link|http:/);
  assert.ok(Buffer.byteLength(page.text) < 15_000);

  const led = await press(link);
  assert.equal(led.status, 303);
  assert.equal(led.headers.get('location'), target);
  assert.equal(led.headers.get('referrer-policy'), 'no-referrer');
  assert.equal(led.headers.get('cache-control'), 'no-store');
  assert.equal(led.text, '');
});

test('nothing that scanners and previews request uses the link', async () => {
  const { id, link } = await send();
  const visits: Visit[] = [
    { method: 'HEAD' },
    { method: 'HEAD', agent: scanner },
    { agent: scanner },
    { agent: '' },
    { headers: { 'sec-purpose': 'prefetch;prerender' } },
    { headers: { purpose: 'preview' } },
    { agent: 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' },
    { agent: 'WhatsApp/2.23.20.0' },
    { method: 'POST' },
    { method: 'POST', body: '' },
    { method: 'POST', body: 'probe=1' },
  ];
  for (const each of visits) {
    const page = await visit(link, each);
    assert.equal(page.status, 200, JSON.stringify(each));
    assert.equal(page.headers.get('location'), null);
  }
  const scans = await shop.events(id, 'link-scanned');
  assert.equal(scans.length, visits.length);
  const barracuda = scans[1]?.detail;
  assert.equal(barracuda?.field, 'Reset URL');
  assert.equal(barracuda?.class, 'scanner');
  assert.deepEqual(await shop.events(id, 'link-confirmed', 'clicked', 'opened'), []);
  assert.equal((await press(link)).status, 303);
});

test('visits are recorded up to a limit, without data of the reader’s machine', async () => {
  const { id, link } = await send();
  for (let count = 0; count < 25; count += 1) {
    await visit(link, { agent: scanner });
    await press(link);
  }
  const scans = await shop.events(id, 'link-scanned');
  const presses = await shop.events(id, 'link-confirmed');
  assert.deepEqual([scans.length, presses.length], [20, 20]);
  const [first] = presses;
  assert.deepEqual(Object.keys(first?.detail ?? {}).sort(), [
    'afterDeliveryMs',
    'class',
    'field',
    'reason',
  ]);
  assert.equal(first?.detail.class, 'person');
  assert.ok(Number(first?.detail.afterDeliveryMs) >= 0);
});

test('a link that is tracked otherwise isn’t wrapped again, and isn’t counted as a click', async () => {
  const { mail, id } = await shop.send('reset', {
    values: { 'Reset URL': target },
    trackClicks: true,
  });
  const [link = ''] = addressesIn(mail.html, 'href');
  assert.match(link, /\/g\//);
  assert.equal((await press(link)).status, 303);
  assert.deepEqual(await shop.events(id, 'clicked'), []);
});

test('while the database is unavailable, the page asks to try again, and nothing leads on', async () => {
  let gate: TcpGate | undefined;
  const own = await FeedbackShop.open({}, async (url) => {
    gate = await openGate(url);
    return gate.url;
  });
  await own.publish('reset', '<a href="{{Reset URL}}">Reset</a>', { 'Reset URL': { guard: true } });
  const { mail } = await own.send('reset', { values: { 'Reset URL': target } });
  const [link = ''] = addressesIn(mail.html, 'href');
  gate?.close();
  for (const answer of [await visit(link), await press(link)]) {
    assert.equal(answer.status, 503);
    assert.equal(answer.headers.get('retry-after'), '60');
    assert.equal(answer.headers.get('location'), null);
    assert.match(answer.text, /Try again in a minute/);
    assert.doesNotMatch(answer.text, /<form/);
  }
  gate?.open();
  await waitFor('the database', async () => (await press(link)).status === 303);
});

test('reports show how long people waited from delivery to the first use', async () => {
  const account = shop.shop.id;
  const query = { group: 'template', timeZone: 'UTC', templateId: 'waited' } as const;
  const from = new Date(shop.clock.now() - 60 * 60_000);
  await shop.publish('waited', '<a href="{{Reset URL}}">x</a>', { 'Reset URL': { guard: true } });
  const { id, link } = await send({}, 'waited');
  await shop.clock.advance(40_000);
  await visit(link);
  await press(link, scanner);
  await shop.waitForEvents(id, 'link-confirmed');
  const { link: other } = await send({}, 'waited');
  await shop.clock.advance(40_000);
  await press(other);
  await shop.clock.advance(40_000);
  await press(other);
  const row = await waitFor('the report', async () => {
    const until = new Date(shop.clock.now() + 60 * 60_000);
    const rows = await readReport(shop.database.kysely, account, { ...query, from, until });
    return rows[0]?.linkWait === undefined ? false : rows[0];
  });
  assert.equal(row.linkWait?.count, 1);
  const waited = row.linkWait?.p50 ?? 0;
  assert.ok(waited > 37_000 && waited < 44_000, String(waited));
  assert.ok((row.latency?.p99 ?? Number.POSITIVE_INFINITY) < 37_000, String(row.latency?.p99));
  assert.equal(row.counts.clicked_people, 0);
});

test('the link is at the tracking host of the From domain, if there is one', async () => {
  const { pool } = shop.database;
  const account = shop.shop.id;
  await pool.query(
    `insert into sending_domain (account_id, domain, state, return_path, tracking_host)
     values ($1, 'brand.test', 'verified', 'b.brand.test', 'links.brand.test')`,
    [account],
  );
  await pool.query(
    `insert into domain_finding (account_id, domain, kind, name, type, expected, required, state, found, explanation, resolver)
     values ($1, 'brand.test', 'tracking', 'links.brand.test', 'CNAME', '', false, 'ok', '{}', '', '')`,
    [account],
  );
  await addSender(shop.database, account, 'hi@brand.test');
  await publishShopTemplate(shop.database, shop.shop, {
    id: 'brand',
    sender: 'hi@brand.test',
    source: {
      subject: 's',
      previewText: '',
      html: '<a href="{{Reset URL}}">x</a>',
      fields: { 'Reset URL': { guard: true } },
    },
  });
  const { link } = await send({}, 'brand');
  assert.match(link, /^https:\/\/links\.brand\.test\/g\//);
  const here = link.replace('https://links.brand.test', shop.service.url);
  assert.equal((await press(here)).headers.get('location'), target);
});

test('an empty value is no link', async () => {
  await shop.publish(
    'maybe',
    '<p>Hi</p>{{#Reset URL}}<a href="{{Reset URL}}">x</a>{{/Reset URL}}',
    {
      'Reset URL': { guard: true, default: '' },
    },
  );
  const { mail } = await shop.send('maybe');
  assert.deepEqual(addressesIn(mail.html, 'href'), []);
  const { link } = await send({}, 'maybe');
  assert.match(link, /\/g\//);
});

test('a value must be a web address without credentials, of at most 1,500 characters as browsers send it', async () => {
  const refused = [
    'reset/now',
    '//shop.test/x',
    'javascript:alert(1)',
    'mailto:a@shop.test',
    'ftp://shop.test/x',
    'https://user@shop.test/',
    'https://user:pass@shop.test/',
    'https://',
    `https://shop.test/${'x'.repeat(1_483)}`,
    `https://shop.test/${'ü'.repeat(300)}`,
  ];
  for (const value of refused) {
    const body = bodyWith({ content: { personalizationDataMap: { 'Reset URL': value } } });
    const answer = await client.send({ template: 'reset', body });
    assert.equal(answer.status, 400, value);
    assert.equal(answer.body.errorName, 'VALIDATION_FAILED');
    const [detail] = answer.body.details as { field: string; reason: string }[];
    assert.equal(detail?.field, 'content.personalizationDataMap.Reset URL');
    assert.ok(value.length < 12 || !answer.text.includes(value.slice(0, 40)), answer.text);
  }
  const { link } = await send({ 'Reset URL': `https://shop.test/${'x'.repeat(1_482)}` });
  assert.ok(link.length < 2_300, String(link.length));
  assert.equal((await visit(link)).status, 200);
  assert.equal((await press(link)).headers.get('location')?.length, 1_500);
  const { link: foreign } = await send({ 'Reset URL': 'http://bücher.test/ü?a=ä b' });
  const page = await visit(foreign);
  assert.match(page.text, /Continue to xn--bcher-kva\.test/);
  assert.equal(
    (await press(foreign)).headers.get('location'),
    'http://xn--bcher-kva.test/%C3%BC?a=%C3%A4%20b',
  );
});

test('a request’s subject or preview text can’t show it', async () => {
  for (const part of ['subjectLine', 'previewText']) {
    const content = { personalizationDataMap: { 'Reset URL': target }, [part]: '{{Reset URL}}' };
    const answer = await client.send({ template: 'reset', body: bodyWith({ content }) });
    assert.equal(answer.status, 400, part);
    const [detail] = answer.body.details as { field: string }[];
    assert.equal(detail?.field, `content.${part}`);
  }
});

test('the page speaks the language of the message, of its template or of the browser', async () => {
  await shop.publish('plain', '<a href="{{Reset URL}}">Reset</a>', {
    'Reset URL': { guard: true },
  });
  for (const [locale, accepted, language, title] of [
    ['de-CH', 'fr', 'de', 'Weiter zu'],
    ['fr', '', 'fr', 'Continuer vers'],
    ['es-MX', '', 'es', 'Continuar a'],
    ['ja', 'de', 'de', 'Weiter zu'],
    ['ja', '', 'en', 'Continue to'],
    [undefined, 'sv, de;q=0.8', 'de', 'Weiter zu'],
    [undefined, '', 'en', 'Continue to'],
  ] as const) {
    const content = { personalizationDataMap: { 'Reset URL': target }, locale };
    const to = `l${Math.random().toString(36).slice(2)}@people.test`;
    const body = bodyWith({ envelope: { toAddress: to }, content });
    const sent = await client.send({ template: 'plain', body });
    assert.equal(sent.status, 200, sent.text);
    const [mail] = await readInbox(shop.service.url, `?to=${to}&wait=60`);
    const [link = ''] = addressesIn(mail?.html ?? '', 'href');
    const page = await visit(link, { headers: { 'accept-language': accepted } });
    assert.ok(page.text.includes(`<html lang="${language}">`), page.text);
    assert.ok(page.text.includes(title), page.text);
  }
});

test('a link ends with its days, with its message, and while its account is suspended', async () => {
  await shop.publish('short', '<a href="{{Reset URL}}">Reset</a>', {
    'Reset URL': { guard: { days: 2 } },
  });
  const { id, link } = await send({}, 'short');
  const { pool } = shop.database;
  const statusOf = async () => [(await visit(link)).status, (await press(link)).status];
  const suspend = (suspended: boolean) => saveShop(shop.database, { id: shop.shop.id, suspended });
  await suspend(true);
  await waitFor('the suspension', async () => (await visit(link)).status === 410);
  assert.equal((await press(link)).status, 410);
  await suspend(false);
  await waitFor('its end', async () => (await visit(link)).status === 200);
  await pool.query(
    `update message set accepted_at = accepted_at - interval '47 hours' where id = $1`,
    [id],
  );
  assert.deepEqual(await statusOf(), [200, 303]);
  await pool.query(
    `update message set accepted_at = accepted_at - interval '1 hour' where id = $1`,
    [id],
  );
  assert.deepEqual(await statusOf(), [410, 410]);
  assert.match((await visit(link)).text, /has expired/);
  await pool.query(`update message set content = null where id = $1`, [id]);
  assert.match((await visit(link)).text, /no longer works/);
  assert.deepEqual(await statusOf(), [410, 410]);
});

const day = 24 * 60 * 60_000;

/** Accepts a message for the day after tomorrow that uses the version that is published then. */
async function schedule(template: string) {
  const to = `s${Math.random().toString(36).slice(2)}@people.test`;
  const id = await client.accept({
    template,
    body: bodyWith({
      envelope: { toAddress: to },
      content: { personalizationDataMap: { 'Reset URL': target } },
      actions: {
        sendAt: new Date(shop.clock.now() + 2 * day).toISOString(),
        templateVersion: 'due',
      },
    }),
  });
  return { id, to };
}

async function linkTo(to: string): Promise<string> {
  const [mail] = await readInbox(shop.service.url, `?to=${to}&wait=60`);
  return addressesIn(mail?.html ?? '', 'href')[0] ?? '';
}

test('the accepted version decides whether a value is guarded, and the days count from the send time', async () => {
  const html = (version: string) => `<p>${version}</p><a href="{{Reset URL}}">Reset</a>`;
  const guarded = { 'Reset URL': { guard: { days: 1 } } };
  for (const template of ['kept', 'dropped']) await shop.publish(template, html('one'), guarded);
  await shop.publish('added', html('one'), { 'Reset URL': { secret: true } });
  const kept = await schedule('kept');
  const dropped = await schedule('dropped');
  const added = await schedule('added');
  await shop.publish('kept', html('two'), guarded);
  await shop.publish('dropped', html('two'), { 'Reset URL': { secret: true } });
  await shop.publish('added', html('two'), guarded);
  await shop.clock.advance(2 * day + 60_000);

  const link = await linkTo(kept.to);
  assert.equal((await press(link)).status, 303);
  assert.deepEqual(await shop.events(kept.id, 'version-kept'), []);
  await shop.clock.advance(day);
  assert.equal((await press(link)).status, 410);

  assert.match(await linkTo(dropped.to), /\/g\//);
  const [event] = await shop.waitForEvents(dropped.id, 'version-kept');
  assert.equal(event?.detail.reason, 'version 2 doesn’t guard Reset URL');

  assert.equal(await linkTo(added.to), target);
});

test('each message of a batch has its own links, and one with a wrong value is refused alone', async () => {
  const to = (name: string) => ({ toAddress: `${name}@people.test` });
  const item = (name: string, value: string) =>
    bodyWith({ envelope: to(name), content: { personalizationDataMap: { 'Reset URL': value } } });
  const answer = await client.send({
    template: 'reset/batch',
    body: { messages: [item('b1', target), item('b2', 'no'), item('b3', target)] },
  });
  const results = (answer.body.results ?? []) as { status: number }[];
  assert.deepEqual(
    results.map(({ status }) => status),
    [200, 400, 200],
    answer.text,
  );
  const links = await Promise.all(['b1@people.test', 'b3@people.test'].map(linkTo));
  assert.notEqual(links[0], links[1]);
  for (const link of links) assert.equal((await press(link)).headers.get('location'), target);
});

testAccountFirst(5);
