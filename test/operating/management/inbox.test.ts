import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTransport } from 'nodemailer';
import { addPasskey } from '../../support/add-passkey.ts';
import { addKey } from '../../support/api-key.ts';
import { openInboxLink, readInbox } from '../../support/inbox-client.ts';
import {
  ManagementClient,
  openManagedShop,
  signInToManagement,
} from '../../support/management-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { inboxHeaders, serviceTokens } from '../../support/service-tokens.ts';
import { publishShopTemplate } from '../../support/shop.ts';
import { startTestService } from '../../support/test-service.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, databaseUrl, service, owner, path, shop, as, makeOperator } =
  await openTestShop();
const inbox = `${path}/inbox/messages`;

const all = '/inbox/messages';

async function idsOf(client: ManagementClient, list: string): Promise<string[]> {
  const { status, body, text } = await client.get(list);
  assert.equal(status, 200, text);
  return (body.items as { id: string }[]).map(({ id }) => id);
}

test('an account reads, searches and deletes only what it sent, whatever its messages claim', async () => {
  const neighbour = await openManagedShop(database, service, '7777');
  await publishShopTemplate(database, neighbour.shop, { id: 't-0001', sender: 'orders@shop.test' });
  const theirs = `${neighbour.path}/inbox/messages`;
  await owner.post(`${path}/templates/t-0001/test-send`, { to: 'first@people.test' });
  await neighbour.owner.post(`${neighbour.path}/templates/t-0001/test-send`, {
    to: 'first@people.test',
  });
  const [id = '', other = ''] = await waitFor('the mails to be captured', async () => {
    const found = [...(await idsOf(owner, inbox)), ...(await idsOf(neighbour.owner, theirs))];
    return found.length === 2 && found;
  });
  // A message of another program, with the Message-ID of the account's.
  const source = String((await owner.get(`${inbox}/${id}`)).body.source);
  const transport = createTransport({ host: '127.0.0.1', port: service.app.inboxPort() });
  await transport.sendMail({
    envelope: { from: 'a@shop.test', to: 'first@people.test' },
    raw: source,
  });
  for (const search of ['', '?search=first@people.test']) {
    assert.deepEqual(await idsOf(owner, inbox + search), [id]);
    assert.deepEqual(await idsOf(neighbour.owner, theirs + search), [other]);
  }
  for (const response of [
    await owner.get(`${inbox}/${other}`),
    await owner.get(`${inbox}/${other}/source`),
    await owner.get(`${inbox}/${other}/attachments/1`),
    await owner.delete(`${inbox}/${other}`),
    await neighbour.owner.get(`${inbox}/${id}`),
    await neighbour.owner.delete(inbox),
  ])
    assert.equal(response.status, 404);
  assert.equal((await owner.get(`${inbox}/${id}`)).status, 200);
  assert.equal((await owner.delete(inbox)).status, 204);
  assert.deepEqual(await idsOf(owner, inbox), []);
  assert.deepEqual(await idsOf(neighbour.owner, theirs), [other]);
  assert.equal((await owner.get('/me')).body.inbox, true);
});

test('an account’s inbox has no system mail, whoever reads it; the installation’s has all, for operators alone', async () => {
  const operator = await as('owner');
  await owner.post(`${path}/templates/t-0001/test-send`, { to: 'third@people.test' });
  const sender = { address: `new@${shop.id}.test` };
  assert.equal((await owner.put(`${path}/senders/${sender.address}`, {})).status, 201);
  await owner.post(`${path}/senders/${sender.address}/link`);
  const [system = ''] = await waitFor('the mail of the service', async () => {
    const mails = await readInbox(service.url, `?to=${sender.address}`);
    return mails.length > 0 && mails.map((mail) => mail.id);
  });
  await waitFor('the mail of the account', async () => (await idsOf(owner, inbox)).length === 1);
  for (const client of [owner, operator]) {
    assert.equal((await idsOf(client, inbox)).includes(system), false);
    assert.equal((await client.get(`${inbox}/${system}`)).status, 404);
    assert.equal((await client.get(all)).status, 403);
    assert.equal((await client.get(`${all}/${system}`)).status, 403);
    assert.equal((await client.delete(all)).status, 403);
  }
  await makeOperator();
  assert.ok((await idsOf(owner, all)).includes(system));
  assert.equal((await idsOf(owner, inbox)).includes(system), false);
  assert.equal((await owner.get(`${inbox}/${system}`)).status, 404);
  assert.equal((await owner.get(`${all}/${system}`)).status, 200);
  assert.equal((await owner.delete(`${all}/${system}`)).status, 204);
  assert.equal((await owner.get(`${all}/${system}`)).status, 404);
  const { body } = await owner.get('/installation/audit?limit=1');
  assert.equal((body.items as { kind: string }[])[0]?.kind, 'inbox_message_removed');
});

test('INBOX_TOKEN and the cookie of a one-time link reach the installation’s inbox and nothing else', async () => {
  const cookie = await openInboxLink(database, service);
  const program = new ManagementClient(service, serviceTokens.INBOX_TOKEN);
  const browser = new ManagementClient(service, undefined, {
    cookie,
    origin: service.url,
    'x-signalpost-request': '1',
  });
  for (const reader of [program, browser]) {
    await owner.post(`${path}/templates/t-0001/test-send`, { to: 'fourth@people.test' });
    const id = await waitFor('the mail to be captured', async () => {
      const [found] = await idsOf(reader, `${all}?search=fourth@people.test`);
      return found;
    });
    assert.equal((await reader.get(`${all}/${id}`)).status, 200);
    for (const other of ['/me', path, inbox, '/installation/backup'])
      assert.equal((await reader.get(other)).status, 401, other);
    assert.equal((await reader.delete(`${inbox}/${id}`)).status, 401);
    assert.equal((await reader.delete(`${all}/${id}`)).status, 204);
  }
  // As for a session: a page of another origin can’t use the cookie to change something.
  const forged = new ManagementClient(service, undefined, { cookie });
  assert.equal((await forged.get(all)).status, 200);
  assert.equal((await forged.delete(all)).status, 403);
  const wrong = new ManagementClient(service, `${serviceTokens.INBOX_TOKEN}x`, { cookie });
  assert.equal((await wrong.get(all)).status, 401);
});

test('they reach nothing where mail is delivered', async () => {
  const cookie = await openInboxLink(database, service);
  const relay = await startTestService({
    databaseUrl,
    worker: false,
    environment: { SMTP_URL: 'smtp://127.0.0.1:1' },
  });
  for (const reader of [
    new ManagementClient(relay, serviceTokens.INBOX_TOKEN),
    new ManagementClient(relay, undefined, { cookie }),
  ])
    assert.equal((await reader.get(all)).status, 401);
  const operator = await signInToManagement(relay, shop.owner.email);
  await addPasskey(database, shop.owner.id);
  assert.equal((await operator.get(all)).status, 404);
  // The account's has only what test keys send, not what was captured before.
  assert.notDeepEqual((await owner.get(inbox)).body.items, []);
  assert.deepEqual((await operator.get(inbox)).body.items, []);
  assert.equal((await sendRequest(`${relay.url}/inbox/enter?code=x`)).status, 404);
});

test('a message has its parts as they were sent: HTML with its images, attachments and source are downloads', async () => {
  const transport = createTransport({ host: '127.0.0.1', port: service.app.inboxPort() });
  const content = Buffer.from('%PDF-1.7 \xff\x00', 'latin1');
  await transport.sendMail({
    from: 'shop@shop.test',
    to: 'parts@people.test',
    subject: 'Größe',
    text: 'äöü',
    html: '<p>Hello</p><img src="cid:logo">',
    attachments: [
      { filename: 'logo.png', content: Buffer.from('\x89PNG'), cid: 'logo' },
      { filename: 'a "b" ü.pdf', content },
    ],
  });
  const [captured] = await readInbox(service.url, '?to=parts@people.test');
  const at = `${all}/${captured?.id}`;
  const { body } = await owner.get(at);
  assert.match(String(body.html), /src="data:image\/png;base64,/);
  assert.deepEqual(body.attachments, [
    { filename: 'logo.png', contentType: 'image/png', size: 5 },
    { filename: 'a "b" ü.pdf', contentType: 'application/pdf', size: content.length },
  ]);
  const file = await fetch(`${service.url}/manage/v1${at}/attachments/2`, {
    headers: inboxHeaders,
  });
  assert.deepEqual(Buffer.from(await file.arrayBuffer()), content);
  assert.equal(
    file.headers.get('content-disposition'),
    "attachment; filename*=utf-8''a%20%22b%22%20%C3%BC.pdf",
  );
  const raw = await owner.get(`${at}/source`);
  assert.equal(raw.text, captured?.source);
  assert.equal(
    raw.headers.get('content-disposition'),
    `attachment; filename*=utf-8''${captured?.id}.eml`,
  );
  for (const { headers } of [file, raw]) {
    assert.equal(headers.get('content-type'), 'application/octet-stream');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox");
    assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin');
  }
  for (const place of ['0', '3', '1000', '1001'])
    assert.equal((await owner.get(`${at}/attachments/${place}`)).status, 404, place);
});

test('a captured mail is deleted once, by those who can empty the inbox', async () => {
  await owner.post(`${path}/templates/t-0001/test-send`, { to: 'second@people.test' });
  const id = await waitFor('the mail to be captured', async () => {
    const { body } = await owner.get(`${inbox}?search=second@people.test`);
    return (body.items as { id: string }[])[0]?.id;
  });
  assert.equal((await (await as('marketer')).delete(`${inbox}/${id}`)).status, 403);
  assert.equal((await (await as(undefined)).delete(`${inbox}/${id}`)).status, 404);
  const reader = new ManagementClient(
    service,
    await addKey(database, shop.id, { scopes: ['inbox:read'] }),
  );
  assert.equal((await reader.delete(`${inbox}/${id}`)).status, 403);
  assert.equal((await owner.get(`${inbox}/${id}`)).status, 200);
  assert.equal((await owner.delete(`${inbox}/${id}`)).status, 204);
  assert.equal((await owner.get(`${inbox}/${id}`)).status, 404);
  assert.equal((await owner.delete(`${inbox}/${id}`)).status, 404);
  assert.ok(((await owner.get(inbox)).body.items as unknown[]).length > 0, 'others stay');
});
