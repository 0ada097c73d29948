import assert from 'node:assert/strict';
import { createHmac, createSign, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type AccountId, type MessageId, newMessageId } from '../../../src/base/values/ids.ts';
import { accountTagOf } from '../../../src/content/message/account-tag.ts';
import { maxFeedbackEvents } from '../../../src/outcomes/event-limits.ts';
import { DeliveryTokens } from '../../../src/outcomes/relay/delivery-tokens.ts';
import { matchReports } from '../../../src/outcomes/relay/match-reports.ts';
import { readSes } from '../../../src/outcomes/relay/read-ses.ts';
import { relayHeaders } from '../../../src/outcomes/relay/relay-headers.ts';
import { isSnsAddress, SnsSignatures } from '../../../src/outcomes/relay/sns-signature.ts';
import { FeedbackShop } from '../../support/feedback-shop.ts';
import type { CapturedMail } from '../../support/inbox-client.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { startSink } from '../../support/mail-sink.ts';
import { runInProcess } from '../../support/run-command.ts';
import { bodyWith } from '../../support/send-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { metricsHeaders } from '../../support/service-tokens.ts';
import { openSubmissionShop } from '../../support/submission-shop.ts';
import { testKey } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const { shop, login } = await openSubmissionShop({
  INTAKE_POSTMARK_PASSWORD: 'a long password',
  INTAKE_MAILGUN_KEY: 'mailgun-key',
  INTAKE_SENDGRID_KEY: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  INTAKE_SNS_TOPICS: 'arn:aws:sns:eu-west-1:1:ours',
});
await shop.publish('note', '<p>Note</p>');
const tokens = new DeliveryTokens(testKey);

/** What the relays return of a delivery's headers. */
function returned(mail: CapturedMail) {
  const header = (name: string) => String(mail.headers[name]?.[0]);
  return {
    metadata: { 'signalpost-message': header('x-pm-metadata-signalpost-message') },
    variables: JSON.parse(header('x-mailgun-variables')) as Record<string, string>,
    arguments: JSON.parse(header('x-smtpapi')).unique_args as Record<string, string>,
    headers: [{ name: 'X-Signalpost-Message', value: header('x-signalpost-message') }],
  };
}

function signForMailgun(timestamp: string, token: string, key = 'mailgun-key') {
  const signature = createHmac('sha256', key).update(`${timestamp}${token}`).digest('hex');
  return { timestamp, token, signature };
}

/** A request of Mailgun's, signed with its key. */
function fromMailgun(data: Readonly<Record<string, unknown>>, at = Date.now(), key?: string) {
  const timestamp = String(Math.floor(at / 1_000));
  const signature = signForMailgun(timestamp, randomBytes(25).toString('hex'), key);
  return { signature, 'event-data': data };
}

let signedAt = 1_600_112_502;

/** The headers with which SendGrid signs a body. */
function signForSendgrid(body: string) {
  signedAt += 1;
  const signature = sign('sha256', Buffer.from(`${signedAt}${body}`), privateKey);
  return {
    'x-twilio-email-event-webhook-timestamp': String(signedAt),
    'x-twilio-email-event-webhook-signature': signature.toString('base64'),
  };
}

/** Posts events as SendGrid signs them. */
function postSendgrid(events: readonly unknown[]) {
  const body = JSON.stringify(events);
  return post('sendgrid', body, signForSendgrid(body));
}

function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return sendRequest(`${shop.service.url}/intake/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
  });
}

const basic = (password: string) => ({
  authorization: `Basic ${Buffer.from(`signalpost:${password}`).toString('base64')}`,
});

test('Postmark: a hard bounce is accepted only with the password, and counted once', async () => {
  const { id, mail } = await shop.send('note');
  const body = {
    RecordType: 'Bounce',
    ID: 4323372036854775807n.toString(),
    Type: 'HardBounce',
    TypeCode: 1,
    Email: 'ann@people.test',
    MessageID: '883953f4-6105-42a2-a16a-77a8eac79483',
    Details: 'smtp;550 5.1.1 The email account that you tried to reach does not exist.',
    Metadata: returned(mail).metadata,
  };
  assert.equal((await post('postmark', body)).status, 401);
  assert.equal((await post('postmark', body, basic('another'))).status, 401);
  assert.equal((await post('postmark', body, basic('a long password'))).status, 200);
  assert.equal((await post('postmark', body, basic('a long password'))).status, 200);
  const events = await shop.events(id, 'bounced');
  assert.equal(events.length, 1);
  assert.equal(events[0]?.detail.cause, 'no-mailbox');
  assert.equal(events[0]?.detail.by, 'Postmark');
});

test('Postmark: complaints count, vacation replies do not', async () => {
  const { id, mail } = await shop.send('note');
  const body = {
    RecordType: 'SpamComplaint',
    ID: 7,
    Type: 'SpamComplaint',
    Email: 'ann@people.test',
    Metadata: returned(mail).metadata,
  };
  await post('postmark', body, basic('a long password'));
  await post(
    'postmark',
    { ...body, RecordType: 'Bounce', Type: 'AutoResponder' },
    basic('a long password'),
  );
  assert.equal((await shop.events(id, 'complained', 'bounced')).length, 1);
});

test('the metrics count reports by kind', async () => {
  const url = `${shop.service.url}/metrics`;
  const { text } = await sendRequest(url, { headers: metricsHeaders });
  assert.match(text, /^signalpost_feedback_reports_total\{kind="bounced"\} [1-9]/m);
  assert.match(text, /^signalpost_feedback_reports_total\{kind="complained"\} [1-9]/m);
  assert.match(text, /^signalpost_feedback_reports_total\{kind="delayed"\} 0$/m);
});

test('Mailgun: a failure is accepted if its signature is valid and at most as old as the last retry', async () => {
  const { id, mail } = await shop.send('note', { cc: ['Second@people.test'] });
  const data = {
    event: 'failed',
    severity: 'permanent',
    id: 'G9Bn5sl1TC6nu79C8C0bwg',
    recipient: 'second@people.test',
    'user-variables': returned(mail).variables,
    'delivery-status': {
      code: 605,
      message: '',
      description: 'Not delivering to previously bounced address',
    },
  };
  assert.equal((await post('mailgun', fromMailgun(data, Date.now(), 'other'))).status, 401);
  assert.equal((await post('mailgun', fromMailgun(data, Date.now() - 10 * 3_600_000))).status, 401);
  assert.equal((await post('mailgun', { signature: 'x' })).status, 401);
  assert.equal((await post('mailgun', fromMailgun(data, Date.now() - 8 * 3_600_000))).status, 200);
  const [event] = await shop.events(id, 'bounced');
  assert.equal(event?.recipient, 1);
});

test('Mailgun: a replayed signed request changes nothing, whatever accompanies its signature', async () => {
  const { id, mail } = await shop.send('note');
  const { signature } = fromMailgun({});
  const request = (event: string, eventId: string, variables: unknown) => ({
    signature,
    'event-data': {
      event,
      severity: 'permanent',
      id: eventId,
      recipient: 'ann@people.test',
      'user-variables': variables,
      'delivery-status': { code: 550, message: 'no such user', description: '' },
    },
  });
  const named = returned(mail).variables;
  assert.equal((await post('mailgun', request('failed', 'first', named))).status, 200);
  // The signature covers only time and token, so anyone who saw a request could combine it with other data.
  const { id: other, mail: otherMail } = await shop.send('note');
  const otherNamed = returned(otherMail).variables;
  for (const again of [
    request('failed', 'first', named),
    request('failed', 'second', named),
    request('complained', 'first', named),
    request('complained', 'third', otherNamed),
  ])
    assert.equal((await post('mailgun', again)).status, 200);
  assert.equal((await shop.events(id, 'bounced', 'complained')).length, 1);
  assert.deepEqual(await shop.events(other, 'bounced', 'complained'), []);
});

test('Mailgun: a used signature counts for no other time and token', async () => {
  const { id, mail } = await shop.send('note');
  const data = (event: string, report: string) => ({
    event,
    id: report,
    recipient: 'ann@people.test',
    'user-variables': returned(mail).variables,
  });
  const used = fromMailgun(data('unsubscribed', 'first'));
  assert.equal((await post('mailgun', used)).status, 200);
  const { timestamp, token, signature } = used.signature;
  const input = `${timestamp}${token}`;
  for (const length of [9, 11]) {
    const moved = { timestamp: input.slice(0, length), token: input.slice(length), signature };
    const body = { signature: moved, 'event-data': data('complained', `moved ${length}`) };
    assert.equal((await post('mailgun', body)).status, 401, `${length}`);
  }
  // With a zero before it, the time is still right.
  const zero = signForMailgun(`0${timestamp}`, token.slice(1));
  const request = { signature: zero, 'event-data': data('complained', 'zero') };
  assert.equal((await post('mailgun', request)).status, 401);
  assert.deepEqual(await shop.events(id, 'complained'), []);
});

test('SendGrid: events are accepted if the raw body is signed', async () => {
  const { id, mail } = await shop.send('note');
  const about = { email: 'ann@people.test', ...returned(mail).arguments };
  const reason = '550 5.1.1 unknown user';
  const body = JSON.stringify([
    { ...about, event: 'bounce', type: 'bounce', status: '5.1.1', reason, sg_event_id: 'e1' },
    { ...about, event: 'spamreport', sg_event_id: 'e2' },
    { ...about, event: 'processed', sg_event_id: 'e3' },
  ]);
  const headers = signForSendgrid(body);
  assert.equal((await post('sendgrid', body)).status, 401);
  assert.equal((await post('sendgrid', `${body} `, headers)).status, 401);
  assert.equal((await post('sendgrid', body, headers)).status, 200);
  assert.deepEqual(
    (await shop.events(id, 'bounced', 'complained')).map(({ kind }) => kind).sort(),
    ['bounced', 'complained'],
  );
});

test('SendGrid: every event of a large batch counts, even if one contains text that the database cannot store', async () => {
  const { id, mail } = await shop.send('note');
  const about = { email: 'ann@people.test', ...returned(mail).arguments };
  // As many events per message as are stored.
  const delayed = await Promise.all(Array.from({ length: 20 }, () => shop.send('note')));
  const others = delayed.flatMap((message) =>
    Array.from({ length: maxFeedbackEvents }, (_, place) => ({
      ...about,
      ...returned(message.mail).arguments,
      event: 'deferred',
      sg_event_id: `d${place}`,
    })),
  );
  const odd = { ...about, event: 'bounce', sg_event_id: 'odd', status: '5.1.1\0', email: 'x\0@y' };
  const last = { ...about, event: 'spamreport', sg_event_id: 'last' };
  assert.equal((await postSendgrid([odd, ...others, last])).status, 200);
  for (const message of delayed)
    assert.equal((await shop.events(message.id, 'delayed')).length, maxFeedbackEvents);
  assert.equal((await shop.events(id, 'bounced', 'complained')).length, 2);
});

test('Amazon SES: only the operator’s own topics count', async () => {
  const Type = 'Notification';
  const theirs = { Type, TopicArn: 'arn:aws:sns:eu-west-1:2:theirs' };
  const evil = 'https://evil.test/x.pem';
  const forged = { Type, TopicArn: 'arn:aws:sns:eu-west-1:1:ours', SigningCertURL: evil };
  for (const message of [theirs, forged])
    assert.equal((await post('ses', message)).status, 401, message.TopicArn);
  assert.equal((await post('ses', 'no json')).status, 400);
});

test('Amazon SES: signatures of both versions cover all fields', async () => {
  const folder = join(import.meta.dirname, 'sns');
  const key = await readFile(join(folder, 'key.pem'), 'utf8');
  const certificate = await readFile(join(folder, 'certificate.pem'), 'utf8');
  const fetchedUrls: string[] = [];
  const signatures = new SnsSignatures(async (url) => {
    fetchedUrls.push(url);
    return certificate;
  });
  const base = {
    Type: 'Notification',
    MessageId: 'm',
    TopicArn: 'arn',
    Message: '{"a":1}',
    Timestamp: '2026-11-20T09:00:00.000Z',
  };
  const text = `Message\n${base.Message}\nMessageId\nm\nTimestamp\n${base.Timestamp}\nTopicArn\narn\nType\nNotification\n`;
  const SigningCertURL = 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem';
  for (const [version, algorithm] of [
    ['1', 'sha1'],
    ['2', 'sha256'],
  ] as const) {
    const Signature = createSign(algorithm).update(text).sign(key, 'base64');
    const message = { ...base, SignatureVersion: version, Signature, SigningCertURL };
    assert.equal(await signatures.isSigned(message), true);
    assert.equal(await signatures.isSigned({ ...message, Message: '{"a":2}' }), false);
    assert.equal(
      await signatures.isSigned({ ...message, SigningCertURL: 'https://sns.evil.test/x.pem' }),
      false,
    );
    for (const trick of ['/?Action=ListTopics&x=.pem', '/other#.pem', '/x.pem?Action=ListTopics']) {
      const other = new URL(trick, SigningCertURL).href;
      assert.equal(await signatures.isSigned({ ...message, SigningCertURL: other }), false);
    }
  }
  assert.deepEqual(fetchedUrls, [SigningCertURL]);
});

test('only Amazon’s own URLs are fetched', () => {
  assert.equal(isSnsAddress('https://sns.us-east-1.amazonaws.com/x.pem'), true);
  for (const address of [
    'http://sns.us-east-1.amazonaws.com/x.pem',
    'https://sns.us-east-1.amazonaws.com.evil.test/x.pem',
    'https://sns.us-east-1.amazonaws.com:8443/',
    'https://x@evil.test/sns.us-east-1.amazonaws.com',
    'file:///etc/passwd',
  ])
    assert.equal(isSnsAddress(address), false, address);
});

test('Amazon SES: bounces and complaints identify the message by a header of the original', () => {
  const token = tokens.make('1000' as AccountId, newMessageId());
  const mail = {
    messageId: '0102-ses',
    headers: [{ name: 'X-Signalpost-Message', value: token }],
  };
  const [bounce] = readSes({
    notificationType: 'Bounce',
    mail,
    bounce: {
      bounceType: 'Permanent',
      bounceSubType: 'General',
      feedbackId: 'f',
      bouncedRecipients: [
        {
          emailAddress: 'ann@people.test',
          action: 'failed',
          status: '5.1.1',
          diagnosticCode: 'smtp; 550 5.1.1 user unknown',
        },
      ],
    },
  });
  assert.equal(bounce?.delivery.token, token);
  assert.equal(bounce?.detail.cause, 'no-mailbox');
  const [full] = readSes({
    eventType: 'Bounce',
    mail,
    bounce: {
      bounceType: 'Transient',
      bounceSubType: 'MailboxFull',
      feedbackId: 'g',
      bouncedRecipients: [{ emailAddress: 'ann@people.test' }],
    },
  });
  assert.deepEqual([full?.detail.cause, full?.detail.permanent], ['mailbox-full', false]);
  const [complaint] = readSes({
    notificationType: 'Complaint',
    mail,
    complaint: {
      feedbackId: 'h',
      complaintFeedbackType: 'abuse',
      complainedRecipients: [{ emailAddress: 'ann@people.test' }],
    },
  });
  assert.equal(complaint?.kind, 'complained');
  assert.deepEqual(readSes({ notificationType: 'Delivery', mail }), []);
  assert.deepEqual(readSes('x'), []);
});

test('each relay that reports gets a header that it returns, also if SMTP_URL names several', () => {
  const intake = {
    snsTopics: [],
    postmarkPassword: undefined,
    mailgunKey: undefined,
    sendgridKey: undefined,
  };
  const headers = (smtpUrl: string | undefined, more = {}) =>
    relayHeaders(smtpUrl, { ...intake, ...more })('d-x');
  const ses = 'smtp://u:p@email-smtp.eu-west-1.amazonaws.com:587';
  const postmark = 'smtp://u:p@smtp.postmarkapp.com:587';
  const toSes = 'X-Signalpost-Message: d-x';
  const toPostmark = 'X-PM-Metadata-signalpost-message: d-x';
  const toMailgun = 'X-Mailgun-Variables: {"signalpost-message":"d-x"}';
  const toSendgrid = 'X-SMTPAPI: {"unique_args":{"signalpost-message":"d-x"}}';
  assert.deepEqual(headers(`${postmark} ${ses}`), [toSes, toPostmark]);
  assert.deepEqual(headers('smtp://smtp.eu.mailgun.org'), [toMailgun]);
  assert.deepEqual(headers('smtp://smtp.sendgrid.net'), [toSendgrid]);
  assert.deepEqual(headers('smtp://relay.test', { sendgridKey: 'k' }), [toSendgrid]);
  assert.deepEqual(headers('smtp://relay.test'), []);
  assert.deepEqual(headers(undefined), []);
});

test('reports about complete messages count, whatever Message-ID their author chose', async () => {
  const other = await shop.send('note');
  const client = await login();
  const raw = (address: string, messageId: string) =>
    [
      'From: orders@shop.test',
      `To: ${address}`,
      'Subject: Raw',
      `Message-ID: <${messageId}>`,
      'X-Signalpost-Transactional: true',
      '',
      'Text',
    ].join('\r\n');
  const reply = await client.submit(
    ['raw@people.test'],
    raw('raw@people.test', `${other.id}@shop.test`),
  );
  assert.match(reply, /^250 /);
  const [mail] = await readInbox(shop.service.url, '?to=raw%40people.test&wait=60');
  assert.ok(mail);
  const about = { email: 'raw@people.test', 'smtp-id': `<${other.id}@shop.test>` };
  await postSendgrid([
    { ...about, ...returned(mail).arguments, event: 'spamreport', sg_event_id: 'raw 1' },
  ]);
  await post(
    'mailgun',
    fromMailgun({
      event: 'complained',
      id: 'raw 2',
      recipient: 'raw@people.test',
      message: { headers: { 'message-id': `${other.id}@shop.test` } },
    }),
  );
  const id = tokens.read(returned(mail).metadata['signalpost-message'])?.messageId ?? '';
  assert.equal((await shop.events(id, 'complained')).length, 1);
  assert.deepEqual(await shop.events(other.id, 'complained'), []);
});

test('a token counts only in its account, and only if it was made here', async () => {
  const { id } = await shop.send('note');
  const token = tokens.make('another' as AccountId, id as MessageId);
  for (const given of [token, `${token.slice(0, -1)}x`, id])
    await postSendgrid([
      {
        email: 'ann@people.test',
        event: 'spamreport',
        sg_event_id: given,
        'signalpost-message': given,
      },
    ]);
  assert.deepEqual(await shop.events(id, 'complained'), []);
});

test('a report about an unknown address is charged to no recipient if there are several', async () => {
  const { id, mail } = await shop.send('note', { cc: ['colleague@people.test'] });
  const about = {
    event: 'bounce',
    status: '5.1.1',
    reason: '550 5.1.1 unknown user',
    ...returned(mail).arguments,
  };
  await postSendgrid([{ ...about, email: 'erased@erased.invalid', sg_event_id: 'unknown' }]);
  assert.deepEqual(await shop.events(id, 'bounced'), []);
  await postSendgrid([{ ...about, email: 'Colleague@people.test', sg_event_id: 'known' }]);
  assert.deepEqual(
    (await shop.events(id, 'bounced')).map(({ recipient }) => recipient),
    [1],
  );
});

test('SendGrid: an address that it drops as invalid or bounced is a hard bounce, and leaving a group unsubscribes', async () => {
  const { id, mail } = await shop.send('note');
  const about = { email: 'ann@people.test', ...returned(mail).arguments };
  await postSendgrid([
    { ...about, event: 'dropped', reason: 'Bounced Address', sg_event_id: 'g1' },
    { ...about, event: 'dropped', reason: 'Invalid', sg_event_id: 'g2' },
    { ...about, event: 'dropped', reason: 'Invalid SMTPAPI header', sg_event_id: 'g3' },
    { ...about, event: 'group_unsubscribe', sg_event_id: 'g4' },
  ]);
  const hard = (await shop.events(id, 'bounced')).filter(
    ({ detail }) => detail.cause === 'no-mailbox' && detail.permanent === true,
  );
  assert.equal(hard.length, 2);
  assert.equal((await shop.events(id, 'unsubscribed')).length, 1);
});

test('Amazon SES: a permanent bounce without a reason is hard, one with a reason as it says', () => {
  const read = (bounceSubType: string, diagnosticCode?: string) =>
    readSes({
      notificationType: 'Bounce',
      mail: {},
      bounce: {
        bounceType: 'Permanent',
        bounceSubType,
        bouncedRecipients: [{ emailAddress: 'ann@people.test', diagnosticCode }],
      },
    })[0]?.detail.cause;
  assert.equal(read('General'), 'no-mailbox');
  assert.equal(read('OnAccountSuppressionList'), 'no-mailbox');
  assert.notEqual(read('General', 'smtp; 550 message rejected'), 'no-mailbox');
});

test('Amazon SES: without headers, a notification is matched by the ID that SES gave in its reply', async () => {
  const relayId = '0102018f3c5d7a10-6c1f2d3e-4b5a-6978-8796-a5b4c3d2e1f0-000000';
  const sink = await startSink({
    options: {
      disabledCommands: ['AUTH', 'STARTTLS'],
      onData(stream, _session, callback) {
        stream.resume();
        // Its types don't know that the second argument is the text of the reply.
        stream.on('end', () => (callback as (...given: unknown[]) => void)(null, `Ok ${relayId}`));
      },
    },
  });
  const relayed = await FeedbackShop.open({ SMTP_URL: `smtp://127.0.0.1:${sink.port}` });
  await relayed.publish('note', '<p>Note</p>');
  const { body } = await relayed.client.send({
    template: 'note',
    body: bodyWith({ envelope: { toAddress: 'ann@people.test' } }),
  });
  const id = String(body.messageId);
  await waitFor('the delivery', async () => (await relayed.state(id)) === 'delivered');
  const reports = (messageId: string) =>
    readSes({
      notificationType: 'Complaint',
      mail: { messageId },
      complaint: { complainedRecipients: [{ emailAddress: 'ann@people.test' }] },
    });
  const { kysely } = relayed.database;
  const found = await matchReports(kysely, tokens, reports(relayId));
  assert.deepEqual(
    found.events.map(({ messageId, accountTag }) => [messageId, accountTag]),
    [[id, accountTagOf(relayed.shop.id)]],
  );
  const { unmatched } = await matchReports(
    kysely,
    tokens,
    reports(relayId.replace('0102', '0103')),
  );
  assert.equal(unmatched.length, 1);
});

test('mail of release 0.2 is found by its Message-ID for seven days after the update', async () => {
  const { id } = await shop.send('note');
  const { pool } = shop.database;
  const report = (place: string) =>
    postSendgrid([
      {
        email: 'ann@people.test',
        event: 'spamreport',
        sg_event_id: place,
        'smtp-id': `<${id}@shop.test>`,
      },
    ]);
  const { rows } = await pool.query(`select content ->> 'to' as to from message where id = $1`, [
    id,
  ]);
  const updated = (when: string) =>
    pool.query(
      `update schema_migration set applied_at = now() + $1::interval where name like '%relay-deliveries%'`,
      [when],
    );
  const ours = () =>
    postSendgrid([
      {
        email: rows[0]?.to,
        event: 'spamreport',
        sg_event_id: 'ours',
        'smtp-id': `<${id}@shop.test>`,
      },
    ]);
  await ours();
  await updated('-8 days');
  await ours();
  assert.deepEqual(await shop.events(id, 'complained'), []);
  await updated('1 minute');
  // Without a token, only an address of the message counts.
  await report('alias');
  assert.deepEqual(await shop.events(id, 'complained'), []);
  await ours();
  assert.equal((await shop.events(id, 'complained')).length, 1);
  await updated('0 minutes');
});

test('reports that match no message are counted in the metrics and found by doctor', async () => {
  await postSendgrid([
    {
      email: 'ann@people.test',
      event: 'bounce',
      sg_event_id: 'stray',
      'smtp-id': '<x@elsewhere.test>',
    },
    {
      email: 'ann@people.test',
      event: 'bounce',
      sg_event_id: 'gone',
      'signalpost-message': tokens.make(shop.shop.id, newMessageId()),
    },
  ]);
  const { text } = await sendRequest(`${shop.service.url}/metrics`, { headers: metricsHeaders });
  assert.match(text, /^signalpost_unmatched_reports_total\{by="SendGrid"\} [2-9]/m);
  const { pool } = shop.database;
  await waitFor('the report of the process', async () => {
    const { rows } = await pool.query(
      'select max(unmatched_reports)::int as most from service_process',
    );
    return rows[0]?.most >= 2;
  });
  const { out } = await runInProcess(['doctor'], { DATABASE_URL: shop.databaseUrl });
  assert.match(
    out,
    /^FAIL reports +\d+ reports of bounces and complaints since the service started match no message$/m,
  );
});
