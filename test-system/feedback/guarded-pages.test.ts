import assert from 'node:assert/strict';
import { createServer, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { addressesIn, FeedbackShop } from '../../test/support/feedback-shop.ts';
import { lookAt, newVisitor, openChromium, type VisitorOptions } from '../support/open-chromium.ts';

async function openSite(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

/** The customer's site, where a sign-in ends. */
const app = await openSite((_, response) => {
  response.setHeader('content-type', 'text/html').end('<title>App</title><p>Signed in</p>');
});
/** Its sign-in service: each token works once, whoever brings it. */
const used: string[] = [];
const referrers: unknown[] = [];
const auth = await openSite(({ url = '', headers }, response) => {
  if (!url.startsWith('/verify')) {
    response.writeHead(404).end();
    return;
  }
  referrers.push(headers.referer);
  const isFirst = !used.includes(url);
  used.push(url);
  const ends = url.includes('app=1') ? 'shopapp://signed-in' : `${app}/home`;
  if (isFirst) response.writeHead(302, { location: ends }).end();
  else response.end('This link was used already');
});

const shop = await FeedbackShop.open();
await shop.publish('sign-in', '<a href="{{Sign-In Link}}">Sign in</a>', {
  'Sign-In Link': { guard: true },
});
const browser = await openChromium();

let count = 0;
async function newLink(more = ''): Promise<string> {
  count += 1;
  const target = `${auth}/verify?token=${count}${more}`;
  const { mail } = await shop.send('sign-in', { values: { 'Sign-In Link': target } });
  return addressesIn(mail.html, 'href')[0] ?? '';
}

async function open(link: string, options: VisitorOptions = {}): Promise<Page> {
  const visitor = await newVisitor(browser, options);
  const page = await visitor.newPage();
  await page.goto(link);
  return page;
}

const people: readonly (readonly [string, VisitorOptions])[] = [
  ['with scripts', {}],
  ['without scripts', { script: false }],
  ['on a phone, in the dark', { phone: true, dark: true }],
];
for (const [name, options] of people) {
  test(`a person ${name} arrives at the site that the sign-in leads on to`, async () => {
    const page = await open(await newLink(), options);
    await lookAt(page, `guarded-link-${name.replaceAll(/\W+/g, '-')}`, options);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(`${app}/home`);
    assert.equal(await page.textContent('p'), 'Signed in');
    assert.deepEqual(referrers.splice(0), [undefined]);
  });
}

test('the keyboard alone is enough, and a screen reader says where the link leads', async () => {
  const page = await open(await newLink());
  assert.equal(
    await page.locator('main').ariaSnapshot(),
    [
      '- main:',
      '  - paragraph: Shop 46100',
      `  - heading "Continue to ${new URL(auth).host}" [level=1]`,
      '  - paragraph: This link is from a message that Shop 46100 sent you. It may work only once, so it opens when you press the button.',
      '  - button "Continue"',
      '  - paragraph: Didn’t ask for this message? Close this page. Nothing happens.',
    ].join('\n'),
  );
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${app}/home`);
});

test('a sign-in can lead on into an app', async () => {
  const page = await open(await newLink('&app=1'));
  const left = page.waitForEvent('requestfailed', (request) =>
    request.url().startsWith('shopapp:'),
  );
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  await page.getByRole('button', { name: 'Continue' }).click();
  await left;
  assert.deepEqual(
    complaints.filter((text) => text.includes('Content Security Policy')),
    [],
  );
});

test('a scanner that runs scripts, scrolls and looks for links uses none of 50 links', async () => {
  const before = used.length;
  const page = await open(await newLink());
  for (let index = 0; index < 50; index += 1) {
    await page.goto(await newLink());
    await page.mouse.wheel(0, 2_000);
    await page.mouse.move(200, 300);
    await page.reload();
    assert.equal(await page.locator('a, [href], script, iframe, img, meta[http-equiv]').count(), 0);
  }
  assert.equal(used.length, before);
});

test('none of 1,000 requests of programs, in each way that is known of scanners, uses a link', async () => {
  const before = used.length;
  const ways: readonly RequestInit[] = [
    { method: 'HEAD' },
    { headers: { 'user-agent': 'Mozilla/5.0 (compatible; Barracuda Sentinel (EE))' } },
    { headers: { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/141.0.0.0' } },
    { headers: { 'sec-purpose': 'prefetch;prerender', 'user-agent': 'Chrome' } },
    { headers: { 'user-agent': 'Slackbot-LinkExpanding 1.0' } },
    { headers: { range: 'bytes=0-1023' } },
    { method: 'OPTIONS' },
    { method: 'POST' },
  ];
  const links = await Promise.all(Array.from({ length: 125 }, () => newLink()));
  for (const link of links)
    for (const way of ways) {
      const { status, headers } = await fetch(link, { ...way, redirect: 'manual' });
      assert.ok(status === 200 || status === 404 || status === 405, String(status));
      assert.equal(headers.get('location'), null);
    }
  assert.equal(used.length, before);
});

const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)';
const chrome = `${windows} Chrome/141.0.0.0 Safari/537.36`;
const edge = `${chrome} Edg/141.0.0.0`;
const bing =
  'Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b';
const sentinel = 'Mozilla/5.0 (compatible; Barracuda Sentinel (EE))';

interface Probe {
  readonly method?: string;
  readonly agent?: string;
  /** The last number of the address on the loopback. */
  readonly from: number;
  /** Of a form. */
  readonly body?: string;
}

/** The requests of three large scanners for one link, as their makers and the operators of sites describe them. */
const scanners: Readonly<Record<string, readonly Probe[]>> = {
  // At delivery and again at the click: a check of the head, a browser, and the preview of the search engine, from several places.
  'Microsoft Defender Safe Links': [
    { method: 'HEAD', agent: edge, from: 11 },
    { agent: edge, from: 11 },
    { agent: bing, from: 12 },
    { agent: edge, from: 13 },
    { method: 'POST', agent: edge, from: 13 },
  ],
  // A browser in a sandbox, repeated from other networks, some without a user agent.
  'Proofpoint URL Defense': [
    { agent: chrome, from: 21 },
    { method: 'HEAD', agent: chrome, from: 22 },
    { agent: chrome, from: 22 },
    { from: 23 },
    { method: 'POST', agent: chrome, from: 23, body: '' },
  ],
  // Says who it is, checks the head first, and submits what forms it finds without their fields.
  'Barracuda Link Protection': [
    { method: 'HEAD', agent: sentinel, from: 31 },
    { agent: sentinel, from: 31 },
    { agent: chrome, from: 32 },
    { method: 'POST', agent: sentinel, from: 32, body: '' },
    { agent: sentinel, from: 33 },
  ],
};

/** Requests as a scanner, which would follow a redirect. @returns the status, and where it would go on */
function probe(link: string, { method = 'GET', agent, from, body }: Probe) {
  const headers = {
    ...(agent !== undefined && { 'user-agent': agent }),
    ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
  };
  const localAddress = `127.0.0.${from}`;
  return new Promise<{ status: number | undefined; location: string | undefined }>(
    (resolve, reject) => {
      request(link, { method, headers, localAddress }, (response) => {
        const { statusCode: status, headers: given } = response.resume();
        response.once('end', () => resolve({ status, location: given.location }));
      })
        .once('error', reject)
        .end(body);
    },
  );
}

test('three large scanners use none of 1,000 links, which people can use afterwards', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `Link ${index}`);
  await shop.publish(
    'many',
    names.map((name) => `<a href="{{${name}}}">x</a>`).join(''),
    Object.fromEntries(names.map((name) => [name, { guard: true }])),
  );
  const before = used.length;
  const kinds = Object.values(scanners);
  let scanned = 0;
  let link = '';
  for (let mail = 0; mail < 50; mail += 1) {
    const values = names.map((name) => [name, `${auth}/verify?token=${mail}-${name}`]);
    const { mail: sent } = await shop.send('many', { values: Object.fromEntries(values) });
    const links = addressesIn(sent.html, 'href');
    assert.equal(links.length, names.length);
    for (const each of links) {
      for (const way of kinds[scanned % kinds.length] ?? [])
        assert.deepEqual(await probe(each, way), { status: 200, location: undefined });
      scanned += 1;
      link = each;
    }
  }
  assert.equal(scanned, 1_000);
  assert.equal(used.length, before);
  const page = await open(link);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(`${app}/home`);
  assert.equal(used.length, before + 1);
});

test('a scanner’s browser that waits a minute on the page goes nowhere', async () => {
  const before = used.length;
  const link = await newLink();
  const page = await (await newVisitor(browser)).newPage();
  await page.clock.install();
  await page.goto(link);
  const asked: string[] = [];
  page.on('request', (each) => asked.push(each.url()));
  await page.mouse.wheel(0, 2_000);
  await page.clock.runFor(60_000);
  assert.equal(page.url(), link);
  assert.deepEqual(asked, []);
  assert.equal(used.length, before);
});

test('an ended link says what to do, and has nothing to press', async () => {
  const link = await newLink();
  await shop.database.pool.query(
    `update message set accepted_at = accepted_at - interval '8 days' where state = 'delivered'`,
  );
  const page = await open(link);
  await page.getByRole('heading', { name: 'This link has expired' }).waitFor();
  assert.equal(await page.getByRole('button').count(), 0);
  await lookAt(page, 'guarded-link-expired');
});
