import assert from 'node:assert/strict';
import { createHmac, createSign, generateKeyPairSync, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { maxFeedbackEvents } from '../../src/feedback/event-limits.ts';
import { readSes } from '../../src/feedback/relay/read-ses.ts';
import { relayHeaders } from '../../src/feedback/relay/relay-event.ts';
import { isSnsAddress, SnsSignatures } from '../../src/feedback/relay/sns-signature.ts';
import { type MessageId, newMessageId } from '../../src/foundation/ids.ts';
import { FeedbackShop } from '../support/feedback-shop.ts';
import { sendRequest } from '../support/send-request.ts';
import { metricsHeaders } from '../support/service-tokens.ts';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const shop = await FeedbackShop.open({
  INTAKE_POSTMARK_PASSWORD: 'a long password',
  INTAKE_MAILGUN_KEY: 'mailgun-key',
  INTAKE_SENDGRID_KEY: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  INTAKE_SNS_TOPICS: 'arn:aws:sns:eu-west-1:1:ours',
});
await shop.publish('note', '<p>Note</p>');

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
  const { id } = await shop.send('note');
  const body = {
    RecordType: 'Bounce',
    ID: 4323372036854775807n.toString(),
    Type: 'HardBounce',
    TypeCode: 1,
    Email: 'ann@people.test',
    MessageID: '883953f4-6105-42a2-a16a-77a8eac79483',
    Details: 'smtp;550 5.1.1 The email account that you tried to reach does not exist.',
    Metadata: { 'signalpost-message': id },
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
  const { id } = await shop.send('note');
  const body = {
    RecordType: 'SpamComplaint',
    ID: 7,
    Type: 'SpamComplaint',
    Email: 'ann@people.test',
    Metadata: { 'signalpost-message': id },
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

test('Mailgun: a failure is accepted if its signature is valid and new', async () => {
  const { id, mail } = await shop.send('note', { cc: ['Second@people.test'] });
  const signed = (at: number, key = 'mailgun-key') => {
    const timestamp = String(Math.floor(at / 1_000));
    const signature = createHmac('sha256', key).update(`${timestamp}token`).digest('hex');
    return {
      signature: { timestamp, token: 'token', signature },
      'event-data': {
        event: 'failed',
        severity: 'permanent',
        id: 'G9Bn5sl1TC6nu79C8C0bwg',
        recipient: 'second@people.test',
        message: {
          headers: { 'message-id': String(mail.headers['message-id']?.[0]).slice(1, -1) },
        },
        'delivery-status': {
          code: 605,
          message: '',
          description: 'Not delivering to previously bounced address',
        },
      },
    };
  };
  assert.equal((await post('mailgun', signed(Date.now(), 'other'))).status, 401);
  assert.equal((await post('mailgun', signed(Date.now() - 3_600_000))).status, 401);
  assert.equal((await post('mailgun', { signature: 'x' })).status, 401);
  assert.equal((await post('mailgun', signed(Date.now()))).status, 200);
  const [event] = await shop.events(id, 'bounced');
  assert.equal(event?.recipient, 1);
});

test('Mailgun: a replayed signed request changes nothing, whatever accompanies its signature', async () => {
  const { id, mail } = await shop.send('note');
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const token = 'a'.repeat(50);
  const signature = createHmac('sha256', 'mailgun-key')
    .update(`${timestamp}${token}`)
    .digest('hex');
  const request = (event: string, eventId: string, messageId: string) => ({
    signature: { timestamp, token, signature },
    'event-data': {
      event,
      severity: 'permanent',
      id: eventId,
      recipient: 'ann@people.test',
      message: { headers: { 'message-id': messageId } },
      'delivery-status': { code: 550, message: 'no such user', description: '' },
    },
  });
  const named = String(mail.headers['message-id']?.[0]).slice(1, -1);
  assert.equal((await post('mailgun', request('failed', 'first', named))).status, 200);
  // The signature covers only time and token, so anyone who saw a request could combine it with other data.
  const { id: other, mail: otherMail } = await shop.send('note');
  const otherNamed = String(otherMail.headers['message-id']?.[0]).slice(1, -1);
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

test('SendGrid: events are accepted if the raw body is signed', async () => {
  const { id, mail } = await shop.send('note');
  const body = JSON.stringify([
    {
      email: 'ann@people.test',
      event: 'bounce',
      type: 'bounce',
      status: '5.1.1',
      reason: '550 5.1.1 unknown user',
      sg_event_id: 'e1',
      'smtp-id': mail.headers['message-id']?.[0],
    },
    {
      email: 'ann@people.test',
      event: 'spamreport',
      sg_event_id: 'e2',
      'smtp-id': mail.headers['message-id']?.[0],
    },
    {
      email: 'ann@people.test',
      event: 'processed',
      sg_event_id: 'e3',
      'smtp-id': mail.headers['message-id']?.[0],
    },
  ]);
  const headers = {
    'x-twilio-email-event-webhook-timestamp': '1600112502',
    'x-twilio-email-event-webhook-signature': sign(
      'sha256',
      Buffer.from(`1600112502${body}`),
      privateKey,
    ).toString('base64'),
  };
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
  const about = { email: 'ann@people.test', 'smtp-id': mail.headers['message-id']?.[0] };
  // As many events per message as are stored.
  const delayed = await Promise.all(Array.from({ length: 20 }, () => shop.send('note')));
  const others = delayed.flatMap((message) =>
    Array.from({ length: maxFeedbackEvents }, (_, place) => ({
      ...about,
      'smtp-id': message.mail.headers['message-id']?.[0],
      event: 'deferred',
      sg_event_id: `d${place}`,
    })),
  );
  const odd = { ...about, event: 'bounce', sg_event_id: 'odd', status: '5.1.1\0', email: 'x\0@y' };
  const last = { ...about, event: 'spamreport', sg_event_id: 'last' };
  const body = JSON.stringify([odd, ...others, last]);
  const headers = {
    'x-twilio-email-event-webhook-timestamp': '1600112503',
    'x-twilio-email-event-webhook-signature': sign(
      'sha256',
      Buffer.from(`1600112503${body}`),
      privateKey,
    ).toString('base64'),
  };
  assert.equal((await post('sendgrid', body, headers)).status, 200);
  for (const message of delayed)
    assert.equal((await shop.events(message.id, 'delayed')).length, maxFeedbackEvents);
  assert.equal((await shop.events(id, 'bounced', 'complained')).length, 2);
});

test('Amazon SES: only the operator’s own topics count', async () => {
  assert.equal(
    (await post('ses', { Type: 'Notification', TopicArn: 'arn:aws:sns:eu-west-1:2:theirs' }))
      .status,
    401,
  );
  assert.equal(
    (
      await post('ses', {
        Type: 'Notification',
        TopicArn: 'arn:aws:sns:eu-west-1:1:ours',
        SigningCertURL: 'https://evil.test/x.pem',
      })
    ).status,
    401,
  );
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
  const id = newMessageId();
  const mail = { messageId: '0102-ses', headers: [{ name: 'X-Signalpost-Message', value: id }] };
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
  assert.equal(bounce?.messageId, id);
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
  assert.deepEqual(readSes({ notificationType: 'Bounce', mail: {} }), []);
  assert.deepEqual(readSes('x'), []);
});

test('relays that replace the Message-ID get a header that identifies the message', () => {
  const id = newMessageId() as MessageId;
  assert.deepEqual(relayHeaders('smtp://u:p@smtp.postmarkapp.com:587', id), [
    `X-PM-Metadata-signalpost-message: ${id}`,
  ]);
  assert.deepEqual(relayHeaders('smtp://u:p@email-smtp.eu-west-1.amazonaws.com:587', id), [
    `X-Signalpost-Message: ${id}`,
  ]);
  assert.deepEqual(relayHeaders('smtp://relay.test', id), []);
});
