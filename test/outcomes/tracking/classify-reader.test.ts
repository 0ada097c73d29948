import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AccountId, type MessageId, newId } from '../../../src/base/values/ids.ts';
import { classifyReader, truncateAddress } from '../../../src/outcomes/tracking/classify-reader.ts';
import type { Engagement } from '../../../src/outcomes/tracking/engagement.ts';
import { findBursts } from '../../../src/outcomes/tracking/engagement-writer.ts';
import { assertQuick } from '../../support/assert-quick.ts';

const home = '93.184.216.34';

/**
 * User agents of email clients, and networks of programs that identify themselves as browsers. Each line has the class, the
 * event, the address (`-` for a home) and the user agent.
 */
const readers = `
prefetch opened - Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)
prefetch opened 66.249.84.17 Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0
prefetch opened - YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html
prefetch opened - Mozilla/5.0 (compatible; YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html)
prefetch opened - Mozilla/5.0
prefetch opened - Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0
scanner opened - Mozilla/5.0 (Windows NT 10.0) Chrome/120.0 Gmail-content-sampling
prefetch opened 17.58.97.1 Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)
scanner clicked -
scanner clicked - curl/8.5.0
scanner clicked - Wget/1.21.4
scanner clicked - python-requests/2.32.3
scanner clicked - Python/3.11 aiohttp/3.9.1
scanner clicked - Go-http-client/1.1
scanner clicked - Java/17.0.10
scanner clicked - okhttp/4.12.0
scanner clicked - axios/1.7.2
scanner clicked - node
scanner clicked - Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0.6099.109 Safari/537.36
scanner clicked - facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)
scanner clicked - Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)
scanner clicked - Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)
scanner clicked - Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)
scanner clicked - WhatsApp/2.23.20.0
scanner clicked - LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)
scanner clicked - Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5
scanner clicked - Microsoft Office Existence Discovery
scanner clicked - Mozilla/5.0 (compatible; Proofpoint/2.0)
scanner clicked - Barracuda Sentinel (EE)
scanner clicked - Mozilla/5.0 (compatible; Mimecast URL Scanner)
scanner clicked 104.47.55.110 Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/98.0.4758.80 Safari/537.36
scanner clicked 40.107.22.84 Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/98.0.4758.80 Safari/537.36
scanner opened 67.231.154.12 Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/79.0.3945.88 Safari/537.36
scanner clicked 209.222.82.10 Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/83.0 Safari/537.36
scanner clicked ::ffff:85.158.139.3 Mozilla/5.0 (Windows NT 10.0; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/83.0 Safari/537.36
scanner clicked 2a01:111:f400:7e1a::201 Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/83.0 Safari/537.36
person clicked - Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36
person clicked - Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0
person clicked - Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1
person clicked - Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36
person clicked 17.58.97.1 Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15
person clicked - Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0
person clicked - Mozilla/5.0 (Linux; Android 14; CUBOT P80) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36
person opened - Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; Win64; x64; Trident/7.0; Microsoft Outlook 16.0.17328; ms-office; MSOffice 16)
person opened - Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.5.0
person opened - Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148
person opened - Outlook-iOS/723.4027091.prod.iphone (4.2.0)
`
  .trim()
  .split('\n');

test('readers are classified as labeled', () => {
  const wrong = readers.filter((line) => {
    const [label, kind, address, ...agent] = line.split(' ');
    assert.ok(kind === 'opened' || kind === 'clicked', line);
    const traits = { kind, hidden: false, prefetch: false } as const;
    const from = address === '-' ? home : String(address);
    return classifyReader({ ...traits, userAgent: agent.join(' '), address: from }).class !== label;
  });
  assert.deepEqual(wrong, []);
});

test('a browser that announces a prefetch is not a person', () => {
  const traits = {
    kind: 'clicked',
    userAgent: 'Mozilla/5.0 (X11) Firefox/144.0',
    address: home,
  } as const;
  assert.equal(classifyReader({ ...traits, hidden: false, prefetch: true }).class, 'prefetch');
  assert.equal(classifyReader({ ...traits, hidden: true, prefetch: false }).class, 'scanner');
});

test('classifying handles arbitrary input quickly', () => {
  const traits = { kind: 'opened', hidden: false, prefetch: false } as const;
  fc.assert(
    fc.property(fc.string({ maxLength: 2_000 }), fc.string(), (userAgent, address) => {
      return classifyReader({ ...traits, userAgent, address }).reason !== '';
    }),
  );
  assertQuick(2_000, () => {
    for (const piece of ['bot', 'a', '+http', 'Mozilla/5.0 ', ' '])
      classifyReader({ ...traits, userAgent: piece.repeat(100_000), address: home });
  });
});

test('addresses are truncated to their network', () => {
  assert.equal(truncateAddress('203.0.113.77'), '203.0.113.0/24');
  assert.equal(truncateAddress('::ffff:203.0.113.77'), '203.0.113.0/24');
  assert.equal(truncateAddress('2001:db8:0:1234::77'), '2001:db8:0::/48');
  assert.equal(truncateAddress('2001:0db8:000a:1:2:3:4:5'), '2001:db8:a::/48');
  assert.equal(truncateAddress('::1'), '0:0:0::/48');
  assert.equal(truncateAddress('nonsense'), '');
});

const item = (at: number, link: number | undefined, agent = 'Firefox'): Engagement => ({
  id: newId(),
  message: { accountId: 'a' as AccountId, messageId: 'm' as MessageId, retentionDays: 90 },
  kind: 'clicked',
  at,
  link,
  hidden: link === undefined,
  verdict: { class: 'person', reason: '' },
  userAgent: agent,
  network: '203.0.113.0/24',
});

const classes = (...items: Engagement[]): string =>
  findBursts(items)
    .map(({ verdict }) => verdict.class)
    .join(' ');

test('three links within two seconds are a scanner; slower clicks are a person', () => {
  assert.equal(classes(item(0, 0), item(300, 1), item(900, 2)), 'scanner scanner scanner');
  assert.equal(classes(item(0, 0), item(1_500, 1), item(4_000, 2)), 'person person person');
  assert.equal(classes(item(0, 0), item(100, 0), item(200, 0)), 'person person person');
  const other = item(20, 1, 'Other');
  assert.equal(classes(item(0, 0), item(10, undefined), other), 'scanner scanner person');
});

test('many clicks of one reader are classified quickly', () => {
  const items = Array.from({ length: 100_000 }, (_, index) => item(index, index % 2));
  assertQuick(2_000, () =>
    assert.ok(findBursts(items).every(({ verdict }) => verdict.class === 'person')),
  );
});
