import assert from 'node:assert/strict';
import { sendRequest } from '../../test/support/send-request.ts';
import { SmtpClient } from '../../test/support/smtp-client.ts';
import type { Draft } from './send-options.ts';

/** Where programs send. */
export interface Doors {
  readonly url: string;
  readonly submissionPort: number;
  /** When delivery begins, in milliseconds since the epoch. */
  readonly start: number;
}

/** What a program learns. */
export interface Submitted {
  readonly messageId: string;
  /** Addresses that the service says it skips. */
  readonly skipped: readonly string[];
}

type Submit = (doors: Doors, draft: Draft, key: string) => Promise<Submitted>;

/** Sends a draft by a door; a program that repeats itself does so at once, and again when it has the answer. */
export async function submitDraft(
  door: keyof typeof submitters,
  doors: Doors,
  draft: Draft,
  key: string,
): Promise<Submitted> {
  const submit = () => submitters[door](doors, draft, key);
  if (!draft.repeated) return submit();
  const both = await Promise.all([submit(), submit()]);
  const answers = [...both, await submit()];
  for (const answer of answers)
    assert.deepEqual(answer, answers[0], 'a repetition has another answer');
  return both[0];
}

const submitters = {
  HTTP: submitOverHttp,
  batch: submitInBatch,
  'template SMTP': (doors, draft, key) =>
    submitOverSmtp(doors, draft, key, templateMail(doors, draft)),
  'raw SMTP': (doors, draft, key) => submitOverSmtp(doors, draft, key, rawMail(doors, draft)),
} satisfies Readonly<Record<string, Submit>>;

function post(path: string, { url }: Doors, key: string, body: unknown, headers = {}) {
  return sendRequest(`${url}/ete/v1/email/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(body),
  });
}

async function submitOverHttp(doors: Doors, draft: Draft, key: string): Promise<Submitted> {
  const { status, text, body } = await post(
    `${draft.accountId}/${draft.template}`,
    doors,
    key,
    bodyOf(doors, draft),
    draft.repeated ? { 'idempotency-key': keyOf(draft) } : {},
  );
  assert.equal(status, 200, text);
  return readAnswer(draft, body);
}

async function submitInBatch(doors: Doors, draft: Draft, key: string): Promise<Submitted> {
  const message = {
    ...bodyOf(doors, draft),
    ...(draft.repeated && { idempotencyKey: keyOf(draft) }),
  };
  const path = `${draft.accountId}/${draft.template}/batch`;
  const { status, text, body } = await post(path, doors, key, { messages: [message] });
  const [result] = (body.results ?? []) as Record<string, unknown>[];
  assert.ok(status === 200 && result?.status === 200, text);
  return readAnswer(draft, result);
}

/** A link names the message. Its signature is another one once the master key has been rotated. */
function readAnswer({ statusToken }: Draft, body: Readonly<Record<string, unknown>>): Submitted {
  const linked = Buffer.from(String(body.statusUrl).split('/').at(-1) ?? '', 'base64url');
  const id = String(body.messageId).replaceAll('-', '');
  if (statusToken === undefined) assert.equal(body.statusUrl, undefined);
  else assert.ok(linked.toString('hex').includes(id), String(body.statusUrl));
  return {
    messageId: String(body.messageId),
    skipped: body.suppressedRecipients as readonly string[],
  };
}

/** A program goes on without the recipients that are refused. */
async function submitOverSmtp(
  { submissionPort }: Doors,
  { accountId, to, cc, bcc }: Draft,
  key: string,
  source: string,
): Promise<Submitted> {
  const client = await SmtpClient.open({ port: submissionPort, tls: true });
  await client.greet();
  assert.match(await client.login(accountId, key), /^235 /);
  assert.match(await client.send('MAIL FROM:<app@shop.test>'), /^250 /);
  const skipped: string[] = [];
  for (const address of [to, ...cc, ...bcc])
    if (!(await client.send(`RCPT TO:<${address}>`)).startsWith('250 ')) skipped.push(address);
  assert.match(await client.send('DATA'), /^354 /);
  const reply = await client.send(`${source}\r\n.`);
  assert.match(reply, /^250 /, reply);
  await client.end();
  return { messageId: reply.slice(-36), skipped };
}

/** The values that a draft has for its template. */
function valuesOf({ name, items, files }: Draft): Readonly<Record<string, unknown>> {
  return {
    Name: `${name} & Söhne`,
    Items: items.map((Title) => ({ Title })),
    Photo: files.some(({ contentId }) => contentId === 'photo') ? 'yes' : '',
  };
}

function bodyOf(doors: Doors, draft: Draft): object {
  const { toName, cc, bcc, replyTo, locale, headers, attributes, files } = draft;
  return {
    envelope: {
      toAddress: draft.to,
      toDisplayName: toName,
      ccAddressList: cc,
      bccAddressList: bcc,
      replyToAddress: replyTo,
    },
    content: {
      personalizationDataMap: valuesOf(draft),
      locale,
      headers,
      attachments:
        files.length === 0
          ? undefined
          : files.map(({ content, ...file }) => ({ ...file, content: content.toString('base64') })),
    },
    metadata: { transactional: draft.transactional, attributes },
    actions: {
      trackOpens: draft.trackOpens,
      trackClicks: draft.trackClicks,
      receiveReplies: draft.receiveReplies,
      deliveryWhenDelayed: draft.late,
      templateVersion: draft.dueVersion && 'due',
      statusToken: draft.statusToken,
      sendAt: timeOf(doors, draft.sendAt),
      deliverBefore: timeOf(doors, draft.deliverBefore),
    },
  };
}

function keyOf({ name }: Draft): string {
  return `key of ${name}`;
}

function timeOf({ start }: Doors, offset: number | undefined): string | undefined {
  return offset === undefined ? undefined : new Date(start + offset).toISOString();
}

function linesOf(fields: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

function controlFields(doors: Doors, draft: Draft): string {
  const { attributes } = draft;
  return linesOf({
    From: 'Demo Shop <orders@shop.test>',
    To: draft.toName === undefined ? draft.to : `${JSON.stringify(draft.toName)} <${draft.to}>`,
    'Reply-To': draft.replyTo,
    'X-Signalpost-Receive-Replies': draft.receiveReplies && 'true',
    'X-Signalpost-Send-At': timeOf(doors, draft.sendAt),
    'X-Signalpost-Deliver-Before': timeOf(doors, draft.deliverBefore),
    'X-Signalpost-Transactional': String(draft.transactional),
    'X-Signalpost-Track-Opens': String(draft.trackOpens),
    'X-Signalpost-Track-Clicks': String(draft.trackClicks),
    'X-Signalpost-Attributes':
      Object.keys(attributes).length === 0 ? undefined : JSON.stringify(attributes),
    'X-Signalpost-Idempotency-Key': draft.repeated ? keyOf(draft) : undefined,
  });
}

function templateMail(doors: Doors, draft: Draft): string {
  const values = Buffer.from(JSON.stringify(valuesOf(draft))).toString('base64');
  return [
    controlFields(doors, draft),
    linesOf({
      'X-Signalpost-Template': draft.template,
      'X-Signalpost-Locale': draft.locale,
      'Content-Type': 'application/json',
      'Content-Transfer-Encoding': 'base64',
    }),
    `\r\n${values.replaceAll(/.{76}/g, '$&\r\n')}`,
  ].join('');
}

/** The HTML that a program composes itself. */
export function ownHtml({ name, items }: Draft): string {
  return [
    `<p>Hello ${name} &amp; S&ouml;hne</p><ul>`,
    ...items.map((item) => `<li>${item.replace('&', '&amp;').replace('<', '&lt;')}</li>`),
    `</ul><p><a href="https://shop.test/orders?of=${name}">Order</a></p>`,
  ].join('\r\n');
}

function rawMail(doors: Doors, draft: Draft): string {
  const parts = draft.files.map(({ filename, contentType, content, contentId }) => [
    linesOf({
      'Content-Type': contentType,
      'Content-Transfer-Encoding': 'base64',
      'Content-Disposition': `${contentId === undefined ? 'attachment' : 'inline'}; filename=${filename}`,
      'Content-ID': contentId && `<${contentId}>`,
    }),
    content.toString('base64').replaceAll(/.{76}/g, '$&\r\n'),
  ]);
  const html = [linesOf({ 'Content-Type': 'text/html; charset=us-ascii' }), ownHtml(draft)];
  return [
    controlFields(doors, draft),
    linesOf({
      ...(draft.cc.length > 0 && { Cc: draft.cc.join(', ') }),
      ...(draft.bcc.length > 0 && { Bcc: draft.bcc.join(', ') }),
      Subject: `Own order of ${draft.name}`,
      Date: 'Thu, 1 Jan 2026 10:00:00 +0100',
      'Message-ID': `<${draft.name}@app.test>`,
      ...draft.headers,
      'MIME-Version': '1.0',
      'Content-Type': 'multipart/mixed; boundary=part',
    }),
    ...[html, ...parts].map(([head, body]) => `\r\n--part\r\n${head}\r\n${body}`),
    '\r\n--part--',
  ].join('');
}
