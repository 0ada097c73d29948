import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { permissionsOf } from '../../src/accounts/access/permission.ts';
import { readReport } from '../../src/outcomes/report/read-report-store.ts';
import { addEndpoint } from '../../src/outcomes/webhook/endpoint-store.ts';
import { SecretBox } from '../../src/outcomes/webhook/secret-box.ts';
import { ReturnPaths } from '../../src/sending/delivery/return-path.ts';
import { addressesIn } from '../../test/support/feedback-shop.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { getToken, openShop, publishShopTemplate } from '../../test/support/shop.ts';
import { TestAuthority } from '../../test/support/test-certificates.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService, testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../support/free-port.ts';
import { newVisitor, openChromium } from '../support/open-chromium.ts';
import { startPostfix } from '../support/start-postfix.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const shop = await openShop(database);
const { pool } = database;
const [postfixPort, reportPort] = [await freePort(), await freePort()];
/** The recipients' server behind Postfix, which has one mailbox. */
const rejecting = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  onRcptTo: ({ address }, _session, callback) =>
    callback(
      address === 'kept@gone.test'
        ? null
        : Object.assign(new Error('5.1.1 Unknown user'), { responseCode: 550 }),
    ),
});
rejecting.listen(0, '127.0.0.1');
await once(rejecting.server, 'listening');
after(() => rejecting.close());
const rejectingPort = (rejecting.server.address() as AddressInfo).port;
// Accepts everything and learns of the unknown recipient later, so its bounce arrives by mail.
const postfix = await startPostfix({
  address: '127.0.0.1',
  port: postfixPort,
  domain: 'people.test',
  certificate: new TestAuthority().issue(['mx.people.test']),
  settings: [
    'relay_domains = gone.test',
    `transport_maps = inline:{ {gone.test = smtp:[127.0.0.1]:${rejectingPort}}, {bounces.shop.test = smtp:[127.0.0.1]:${reportPort}} }`,
  ],
  services: ['smtp unix - - n - - smtp'],
});
await pool.query(
  "insert into sending_domain (account_id, domain, state, return_path) values ($1, 'shop.test', 'verified', 'bounces.shop.test')",
  [shop.id],
);
await publishShopTemplate(database, shop, {
  id: 'order',
  sender: 'orders@shop.test',
  source: {
    subject: 'Your order',
    previewText: '',
    html: '<p>Thank you</p><a id="shop" href="http://127.0.0.1:{{Port}}/order">order</a>',
  },
});

/** The shop's site and its webhook endpoint. */
const received: {
  readonly body: { type: string; data: { messageId: string } };
  readonly signed: boolean;
}[] = [];
let secret = '';
const site = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk) => {
    text += chunk;
  });
  request.on('end', () => {
    if (request.method === 'POST') {
      const { headers } = request;
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
      const mac = createHmac('sha256', key).update(
        `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`,
      );
      received.push({
        body: JSON.parse(text),
        signed: headers['webhook-signature'] === `v1,${mac.digest('base64')}`,
      });
    }
    response.setHeader('content-type', 'text/html').end('<h1>Your order</h1>');
  });
}).listen(0, '127.0.0.1');
await once(site, 'listening');
after(() => site.close());
const sitePort = (site.address() as AddressInfo).port;

const service = await startTestService({
  databaseUrl,
  environment: {
    DELIVERY: 'relay',
    SMTP_URL: `smtp://127.0.0.1:${postfixPort}?tls=off`,
    BOUNCE_PORT: String(reportPort),
    BOUNCE_HOST: '127.0.0.1',
    WEBHOOK_NETWORKS: '127.0.0.0/8',
  },
});
const client = new SendClient(service, await getToken(service, shop));
const kinds = ['accepted', 'delivered', 'opened', 'clicked', 'bounced'] as const;
({ secret } = await addEndpoint(database.kysely, new SecretBox(testKey), shop.id, {
  url: `http://127.0.0.1:${sitePort}/hook`,
  kinds,
  permissions: permissionsOf.owner,
}));

async function send(toAddress: string, ...ccAddressList: string[]): Promise<string> {
  const response = await client.send({
    template: 'order',
    body: bodyWith({
      envelope: { toAddress, ccAddressList },
      content: { personalizationDataMap: { Port: String(sitePort) } },
    }),
  });
  assert.equal(response.status, 200, response.text);
  return String(response.body.messageId);
}

async function waitForWebhook(messageId: string, kind: string): Promise<void> {
  const found = await waitFor(
    `a webhook of ${kind}`,
    () =>
      received.find(
        ({ body }) => body.type === `message.${kind}` && body.data.messageId === messageId,
      ),
    30_000,
  );
  assert.equal(found.signed, true);
}

async function counts(): Promise<Record<string, number>> {
  const span = {
    from: new Date(Date.now() - 86_400_000),
    until: new Date(Date.now() + 86_400_000),
  };
  const [row] = await readReport(database.kysely, shop.id, {
    ...span,
    group: 'none',
    timeZone: 'UTC',
  });
  return { ...row?.counts };
}

test('a message in a real Postfix mailbox, opened and clicked in Chromium, is recorded everywhere', async () => {
  const id = await send('reader@people.test');
  await waitForWebhook(id, 'delivered');
  const [mail = ''] = await waitFor('the mailbox', async () => {
    const mails = await postfix.mails();
    return mails.length > 0 && mails;
  });
  assert.match(mail, /^Return-Path: <b-[a-z2-7]+@bounces\.shop\.test>/m);
  const path = /^Return-Path: <([^>]+)>/m.exec(mail)?.[1] ?? '';
  const { messageId, recipient } = new ReturnPaths(testKey).read(path) ?? {};
  assert.deepEqual([messageId, recipient], [id, 0]);
  const html = mail
    .slice(mail.indexOf('Content-Type: text/html'))
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_all, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  assert.equal(addressesIn(html, 'src').length, 1);
  const visitor = await newVisitor(await openChromium(), { script: false });
  const page = await visitor.newPage();
  // A regular browser's user agent; the default one identifies itself as headless.
  const agent =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36';
  await page.setExtraHTTPHeaders({ 'user-agent': agent });
  await page.setContent(html.slice(html.indexOf('<')));
  await page.waitForLoadState('networkidle');
  await page.click('#shop');
  await page.waitForURL(`http://127.0.0.1:${sitePort}/order`);
  await waitForWebhook(id, 'opened');
  await waitForWebhook(id, 'clicked');
  const { rows } = await pool.query(
    "select kind, detail ->> 'class' as class from message_event where message_id = $1 and kind in ('opened', 'clicked') order by kind",
    [id],
  );
  assert.deepEqual(rows, [
    { kind: 'clicked', class: 'person' },
    { kind: 'opened', class: 'person' },
  ]);
  const found = await waitFor('the report', async () => {
    const now = await counts();
    return now.clicked_people === 1 && now;
  });
  assert.equal(found.opened_people_unique, 1);
});

test('a bounce that a real Postfix sends later appears in timeline, report, webhook and suppressions', async () => {
  const id = await send('nobody@gone.test');
  await waitForWebhook(id, 'delivered');
  await waitForWebhook(id, 'bounced');
  const status = await client.status(id, shop.id);
  const events = status.body.events as { kind: string; detail: Record<string, unknown> }[];
  const bounced = events.find(({ kind }) => kind === 'bounced');
  assert.equal(bounced?.detail.by, 'mail');
  assert.equal(bounced?.detail.cause, 'no-mailbox');
  await waitFor('the report', async () => (await counts()).bounced_hard === 1);
  const rows = await waitFor('the suppression', async () => {
    const found = await pool.query('select address, reason from suppression');
    return found.rows.length > 0 && found.rows;
  });
  assert.deepEqual(rows, [{ address: 'nobody@gone.test', reason: 'hard_bounce' }]);
});

test('a bounce of a Cc that a real Postfix sends later suppresses that Cc alone, and not To at the same domain', async () => {
  const id = await send('kept@gone.test', 'late@gone.test', 'copy@people.test');
  await waitForWebhook(id, 'bounced');
  const suppressed = await waitFor('the suppression', async () => {
    const { rows } = await pool.query<{ address: string }>(
      'select address from suppression where message_id = $1',
      [id],
    );
    return rows.length > 0 && rows;
  });
  assert.deepEqual(suppressed, [{ address: 'late@gone.test' }]);
  const { rows } = await pool.query(
    "select recipient from message_event where message_id = $1 and kind = 'bounced'",
    [id],
  );
  assert.deepEqual(rows, [{ recipient: 1 }]);
});
