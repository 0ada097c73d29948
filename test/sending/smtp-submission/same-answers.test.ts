import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FaultCode } from '../../../src/base/values/errors.ts';
import { faultReplies } from '../../../src/sending/smtp-submission/submission-replies.ts';
import { addKey } from '../../support/api-key.ts';
import { bodyWith, SendClient, type SendOptions } from '../../support/send-client.ts';
import { addSender, publishShopTemplate, saveShop } from '../../support/shop.ts';
import { openSubmissionShop, templateMail } from '../../support/submission-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await openSubmissionShop();
const { shop } = world;
const { database } = shop;
await database.pool.query(
  `insert into suppression (account_id, address, reason) values
    ('46100', 'gone@people.test', 'hard_bounce'), ('46100', 'left@people.test', 'unsubscribe')`,
);
await addSender(database, shop.shop.id, 'orders@shop.test', { displayNames: ['Demo Shop'] });
await publishShopTemplate(database, shop.shop, {
  id: 'guarded',
  sender: 'orders@shop.test',
  source: {
    subject: 's',
    previewText: '',
    html: '<p>{{Link}}</p>',
    fields: { Link: { guard: true } },
  },
});
const http = new SendClient(shop.service, world.key);

/** The same message over HTTP and over SMTP. */
interface Question {
  readonly title: string;
  /** Undefined: accepted. */
  readonly expected: FaultCode | undefined;
  readonly to?: string;
  readonly http?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly template?: string;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly fields?: Readonly<Record<string, string>>;
}

const far = new Date(Date.now() + 400 * 86_400_000).toISOString();

const questions: readonly Question[] = [
  { title: 'a good message', expected: undefined },
  { title: 'an unknown template', expected: 'INVALID_ID', template: 'unknown' },
  { title: 'a malformed template ID', expected: 'INVALID_ID', template: '.system' },
  {
    title: 'a From address that isn’t verified',
    expected: 'SENDER_NOT_ALLOWED',
    http: { envelope: { fromAddress: 'new@shop.test' } },
    fields: { From: 'new@shop.test' },
  },
  {
    title: 'a From address of nobody',
    expected: 'SENDER_NOT_ALLOWED',
    http: { envelope: { fromAddress: 'ceo@bank.test' } },
    fields: { From: 'ceo@bank.test' },
  },
  {
    title: 'a name that isn’t registered',
    expected: 'SENDER_NOT_ALLOWED',
    http: { envelope: { fromAddress: 'orders@shop.test', fromDisplayName: 'The Bank' } },
    fields: { From: '"The Bank" <orders@shop.test>' },
  },
  {
    title: 'a Reply-To address that isn’t verified',
    expected: 'SENDER_NOT_ALLOWED',
    http: { envelope: { fromAddress: 'orders@shop.test', replyToAddress: 'x@bank.test' } },
    fields: { 'Reply-To': 'x@bank.test' },
  },
  { title: 'a missing value', expected: 'PERSONALIZATION_FAILURE', values: {} },
  {
    title: 'a value that isn’t text',
    expected: 'VALIDATION_FAILED',
    values: { 'Order Number': 7 },
  },
  {
    title: 'a tag that is too long',
    expected: 'VALIDATION_FAILED',
    http: { metadata: { tagList: ['t'.repeat(49)] } },
    fields: { 'X-Signalpost-Tag': 't'.repeat(49) },
  },
  {
    title: 'a tag',
    expected: undefined,
    http: { metadata: { tagList: ['spring'] } },
    fields: { 'X-Signalpost-Tag': 'spring' },
  },
  {
    title: 'attributes that aren’t texts',
    expected: 'VALIDATION_FAILED',
    http: { metadata: { attributes: { order: 1 } } },
    fields: { 'X-Signalpost-Attributes': '{"order":1}' },
  },
  {
    title: 'a send time that is too far ahead',
    expected: 'VALIDATION_FAILED',
    http: { actions: { sendAt: far } },
    fields: { 'X-Signalpost-Send-At': far },
  },
  {
    title: 'a send time without an offset',
    expected: 'VALIDATION_FAILED',
    http: { actions: { sendAt: '2030-01-01T00:00:00' } },
    fields: { 'X-Signalpost-Send-At': '2030-01-01T00:00:00' },
  },
  {
    title: 'tracked opens and clicks',
    expected: undefined,
    http: { actions: { trackOpens: true, trackClicks: true } },
    fields: { 'X-Signalpost-Track-Opens': 'true', 'X-Signalpost-Track-Clicks': 'true' },
  },
  {
    title: 'a guarded link',
    expected: undefined,
    template: 'guarded',
    values: { Link: 'https://shop.test/reset' },
  },
  {
    title: 'a guarded value that is no link',
    expected: 'VALIDATION_FAILED',
    template: 'guarded',
    values: { Link: 'reset' },
  },
  { title: 'a recipient who bounced', expected: 'RECIPIENT_SUPPRESSED', to: 'gone@people.test' },
  {
    title: 'a recipient who unsubscribed',
    expected: 'RECIPIENT_SUPPRESSED',
    to: 'left@people.test',
  },
  {
    title: 'a transactional message to one who unsubscribed',
    expected: undefined,
    to: 'left@people.test',
    http: { metadata: { transactional: true } },
    fields: { 'X-Signalpost-Transactional': 'true' },
  },
  {
    title: 'the simulated suppression',
    expected: 'RECIPIENT_SUPPRESSED',
    to: 'suppressed@simulator.test',
  },
];

async function askHttp(question: Question, options: SendOptions = {}): Promise<string> {
  const { to = 'reader@people.test', values = { 'Order Number': 'A-1' }, template } = question;
  const off = { trackOpens: false, trackClicks: false };
  const response = await http.send({
    ...(template !== undefined && { template }),
    body: bodyWith({
      ...question.http,
      envelope: { toAddress: to, ...question.http?.envelope },
      content: { personalizationDataMap: values },
      actions: { ...off, ...question.http?.actions },
    }),
    ...options,
  });
  return response.status === 200 ? 'OK' : String(response.body.errorName);
}

async function askSmtp(question: Question, user = '46100', key = world.key): Promise<string> {
  const { to = 'reader@people.test', values = { 'Order Number': 'A-1' }, template } = question;
  const client = await world.open();
  const login = await client.login(user, key);
  const reply = login.startsWith('235')
    ? await client.submit(
        [to],
        templateMail(values, {
          ...(template !== undefined && { 'X-Signalpost-Template': template }),
          ...question.fields,
        }),
      )
    : login;
  await client.end();
  return reply;
}

function replyTo(fault: FaultCode): RegExp {
  const { code, status } = faultReplies[fault];
  return new RegExp(`^${code} ${status.replaceAll('.', '\\.')} `);
}

for (const question of questions)
  test(`HTTP and SMTP respond alike: ${question.title}`, async () => {
    const { expected } = question;
    assert.equal(await askHttp(question), expected ?? 'OK');
    assert.match(
      await askSmtp(question),
      expected === undefined ? /^250 2\.6\.0 / : replyTo(expected),
    );
  });

test('HTTP and SMTP respond alike: a key for other templates', async () => {
  const key = await addKey(database, shop.shop.id, {
    scopes: ['messages:send'],
    templates: ['other'],
  });
  const question = { title: '', expected: undefined };
  assert.equal(await askHttp(question, { token: key }), 'INVALID_ID');
  assert.match(await askSmtp(question, '46100', key), replyTo('INVALID_ID'));
});

test('HTTP and SMTP respond alike: an idempotency key that was used with other values', async () => {
  const headers = { 'idempotency-key': 'order-7' };
  const fields = { 'X-Signalpost-Idempotency-Key': 'order-7' };
  const first = { title: '', expected: undefined, values: { 'Order Number': '1' }, fields };
  const other = { ...first, values: { 'Order Number': '2' } };
  assert.equal(await askHttp(first, { headers }), 'OK');
  assert.equal(await askHttp(other, { headers }), 'IDEMPOTENCY_MISMATCH');
  assert.match(await askSmtp(first), /^250 /);
  assert.match(await askSmtp(other), replyTo('IDEMPOTENCY_MISMATCH'));
});

test('HTTP and SMTP respond alike: a transactional message without the add-on', async () => {
  await saveShop(database, { addOns: [] });
  const question: Question = {
    title: '',
    expected: undefined,
    http: { metadata: { transactional: true } },
    fields: { 'X-Signalpost-Transactional': 'true' },
  };
  await waitFor('the change', async () => (await askHttp(question)) === 'VALIDATION_FAILED');
  assert.match(await askSmtp(question), replyTo('VALIDATION_FAILED'));
});

test('HTTP and SMTP respond alike: an account that has reached its quota', async () => {
  await saveShop(database, { quota: { perHour: 1, perDay: undefined } });
  const question = { title: '', expected: undefined };
  await waitFor('the end of the quota', async () => (await askHttp(question)) === 'QUOTA_EXCEEDED');
  assert.match(await askSmtp(question), replyTo('QUOTA_EXCEEDED'));
});
