import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { maxAttachmentLimit } from '../../src/accounts/account/account-settings.ts';
import { kibibyte, mebibyte, sendBodyBytes } from '../../src/host/http/limits/route-limits.ts';
import { addKey } from '../../test/support/api-key.ts';
import { bodyWithFile, fillingContent, findRest } from '../../test/support/fill-message.ts';
import { startSink } from '../../test/support/mail-sink.ts';
import { openRawRequest } from '../../test/support/raw-connection.ts';
import { readSentMail } from '../../test/support/read-mail.ts';
import { bodyWith, goodBody, SendClient } from '../../test/support/send-client.ts';
import { sendRequest, type TextResponse } from '../../test/support/send-request.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { database, url: databaseUrl } = await createTestDatabase();
const small = 300 * kibibyte;
const shop = await openShop(database, { attachmentLimit: maxAttachmentLimit });
const measured = await openShop(database, { id: '46200', attachmentLimit: small });
const without = await openShop(database, { id: '46300', attachmentLimit: 0 });
const sink = await startSink();
const service = await startTestService({
  databaseUrl,
  environment: { SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off` },
});

const token = await getToken(service, shop);
const callers = [token, await addKey(database, shop.id)];
const reasonOf = ({ status, body }: TextResponse): unknown =>
  status === 200 ? 'OK' : (body.details as { reason: string }[] | undefined)?.[0]?.reason;

test('a message of just under 25 MiB as sent goes, and one past fails with the limit, with a token and a key', async () => {
  const measuring = new SendClient(service, await getToken(service, measured));
  const inMeasured = {
    send: (options: object) => measuring.send({ ...options, account: '46200' }),
  };
  const rest = await findRest(inMeasured as SendClient, small);
  const content = fillingContent(maxAttachmentLimit, rest);
  const over = Buffer.concat([content, Buffer.from('xxx')]);
  for (const [number, caller] of callers.entries()) {
    const client = new SendClient(service, caller);
    const address = `large${number}@example.test`;
    const response = await client.send({ body: bodyWithFile(content, address) });
    assert.equal(response.status, 200, response.text);
    const mail = await waitFor('the mail', () => sink.mails.find(({ to }) => to[0] === address));
    assert.ok(mail.source.length <= maxAttachmentLimit, `${mail.source.length}`);
    // What is measured is an upper bound: signatures and names are not known yet.
    assert.ok(mail.source.length > maxAttachmentLimit - 16 * kibibyte, `${mail.source.length}`);
    const { files } = readSentMail(mail.source);
    assert.ok(files[0]?.content.equals(content));
    const refused = await client.send({ body: bodyWithFile(over) });
    assert.equal(refused.status, 400);
    assert.match(String(reasonOf(refused)), /larger than 25 MiB as sent/);
  }
});

test('a message without a stored template can be as large, through each API', async () => {
  const key = await addKey(database, shop.id);
  const encodedSize = (file: number): number => Math.ceil(file / 57) * 78;
  const fits = randomBytes(Math.floor(((maxAttachmentLimit - 8 * kibibyte) / 78) * 57));
  const over = Buffer.concat([fits, randomBytes(16 * kibibyte)]);
  assert.ok(encodedSize(over.length) > maxAttachmentLimit);
  const post = (path: string, body: object) =>
    sendRequest(service.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
  const own = (address: string, file: Buffer) =>
    post(`/ete/v1/email/${shop.id}`, {
      envelope: { toAddress: address, fromAddress: 'orders@shop.test' },
      content: {
        subjectLine: 'Large',
        text: 'Large',
        literal: true,
        attachments: [
          {
            filename: 'a.bin',
            contentType: 'application/octet-stream',
            content: file.toString('base64'),
          },
        ],
      },
    });
  const resend = (address: string, file: Buffer) =>
    post('/resend/emails', {
      from: 'orders@shop.test',
      to: address,
      subject: 'Large',
      text: 'Large',
      attachments: [{ filename: 'a.bin', content: file.toString('base64') }],
    });
  const sendgrid = (address: string, file: Buffer) =>
    post('/sendgrid/v3/mail/send', {
      personalizations: [{ to: [{ email: address }] }],
      from: { email: 'orders@shop.test' },
      subject: 'Large',
      content: [{ type: 'text/plain', value: 'Large' }],
      attachments: [{ filename: 'a.bin', content: file.toString('base64') }],
    });
  for (const [name, send] of Object.entries({ own, resend, sendgrid })) {
    const address = `${name}@large.test`;
    const response = await send(address, fits);
    assert.equal(response.status, name === 'sendgrid' ? 202 : 200, response.text);
    const mail = await waitFor('the mail', () => sink.mails.find(({ to }) => to[0] === address));
    const { files } = readSentMail(mail.source);
    assert.ok(files[0]?.content.equals(fits));
    const refused = await send(address, over);
    assert.ok(refused.status === 400 || refused.status === 422, refused.text);
    assert.match(refused.text, /larger than 25 MiB as sent/);
  }
});

test('a request can be 256 KiB larger than the account’s attachment limit and not one byte more', async () => {
  const maxBytes = sendBodyBytes + maxAttachmentLimit;
  const content = Buffer.alloc(Math.floor((maxBytes - kibibyte) / 4) * 3);
  const body = JSON.stringify(bodyWithFile(content)).padEnd(maxBytes);
  assert.equal(body.length, maxBytes);
  for (const caller of callers) {
    const client = new SendClient(service, caller);
    const largest = await client.send({ body });
    assert.match(String(reasonOf(largest)), /larger than 25 MiB as sent/);
    const talk = await openRawRequest(service.url, {
      path: `/ete/v1/email/${shop.id}/t-0001`,
      headers: {
        authorization: `Bearer ${caller}`,
        'content-type': 'application/json',
        'content-length': String(maxBytes + 1),
      },
    });
    await waitFor('the answer before the body', () => talk.text().includes('"requestId"'));
    assert.match(talk.text(), /^HTTP\/1\.1 400 /);
    assert.match(talk.text(), /the body is larger than 25856 KiB/);
    await talk.closed;
  }
});

test('a request of an account without attachments can have 256 KiB and not one byte more, which is refused unread', async () => {
  const bearer = await getToken(service, without);
  const client = new SendClient(service, bearer);
  const padded = (bytes: number) => JSON.stringify(goodBody()).padEnd(bytes);
  const send = (bytes: number) => client.send({ account: without.id, body: padded(bytes) });
  assert.equal(reasonOf(await send(sendBodyBytes)), 'OK');
  assert.equal(reasonOf(await send(sendBodyBytes + 1)), 'the body is larger than 256 KiB');
  const talk = await openRawRequest(service.url, {
    path: `/ete/v1/email/${without.id}/t-0001`,
    headers: {
      authorization: `Bearer ${bearer}`,
      'content-type': 'application/json',
      'content-length': String(100 * mebibyte),
    },
  });
  await waitFor('the answer before the body', () => talk.text().includes('"requestId"'));
  assert.match(talk.text(), /^HTTP\/1\.1 400 [\s\S]*connection: close[\s\S]*256 KiB/i);
  await talk.closed;
});

test('a batch can have 10 MiB and not one byte more, with a token and a key', async () => {
  const values = { personalizationDataMap: { 'Order Number': 'A'.repeat(10_000) } };
  const messages = Array.from({ length: 1_000 }, () => bodyWith({ content: values }));
  const body = JSON.stringify({ messages });
  for (const caller of callers) {
    const post = (bytes: number) =>
      sendRequest(`${service.url}/ete/v1/email/${shop.id}/t-0001/batch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${caller}`, 'content-type': 'application/json' },
        body: body.padEnd(bytes),
      });
    const response = await post(10 * mebibyte);
    assert.equal(response.status, 200, response.text.slice(0, 500));
    assert.equal((response.body.results as unknown[]).length, 1_000);
    assert.equal(reasonOf(await post(10 * mebibyte + 1)), 'the body is larger than 10 MiB');
  }
});
