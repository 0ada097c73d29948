import assert from 'node:assert/strict';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { ReturnPaths } from '../../src/delivery/return-path.ts';
import { ReplyAddresses } from '../../src/message/reply-address.ts';
import { ManagementClient } from '../../test/support/management-client.ts';
import { type ReadMail, readSentMail } from '../../test/support/read-mail.ts';
import { readTestResolver } from '../../test/support/test-resolver.ts';
import { testKey } from '../../test/support/test-service.ts';
import type { ArrivedMail, DeliveryWay } from './delivery-ways.ts';
import { type Draft, type SendCase, templateImage } from './send-options.ts';
import { ownHtml, type Submitted } from './submit-draft.ts';

/** A case that has been sent. */
export interface SentCase {
  readonly values: SendCase;
  readonly draft: Draft;
  readonly way: DeliveryWay;
  readonly key: string;
  readonly submitted: Submitted;
}

/** A message that a case must become: over SMTP, each recipient gets one. */
interface ExpectedMessage {
  readonly to: string;
  /** In the order of their numbers, without the archive. */
  readonly recipients: readonly string[];
  readonly archive: string | undefined;
  readonly visibleCc: readonly string[];
}

const returnPaths = new ReturnPaths(testKey);
const replyAddresses = new ReplyAddresses(testKey);

function isTemplate({ door }: SendCase): boolean {
  return door !== 'raw SMTP';
}

function overSmtp({ door }: SendCase): boolean {
  return door === 'raw SMTP' || door === 'template SMTP';
}

function expectedMessages({ values, draft }: Pick<SentCase, 'values' | 'draft'>) {
  const { to, cc, bcc, suppressed, archive } = draft;
  const isLeft = (address: string): boolean => !suppressed.includes(address);
  const everybody = [to, ...cc.filter(isLeft), ...bcc];
  const message = (recipients: readonly string[], visibleCc: readonly string[]) => ({
    to: recipients[0] ?? '',
    recipients,
    archive: archive !== undefined && recipients.includes(archive) ? undefined : archive,
    visibleCc,
  });
  // A program's own message says what it says.
  const ownCc = isTemplate(values) ? [] : cc;
  return overSmtp(values)
    ? everybody.map((address): ExpectedMessage => message([address], ownCc))
    : [message(everybody, cc.filter(isLeft)) satisfies ExpectedMessage];
}

/** What happens to every recipient of the case. */
function outcomeOf({ deliverBefore }: SendCase): 'delivered' | 'expired' {
  return deliverBefore === 'passed' ? 'expired' : 'delivered';
}

/** What acts for the reader of a mail. */
interface Marks {
  readonly unsubscribe: boolean;
  readonly opens: boolean;
  readonly clicks: boolean;
}

const noMarks: Marks = { unsubscribe: false, opens: false, clicks: false };

function expectedMarks({ draft }: SentCase, { recipients }: ExpectedMessage): Marks {
  return {
    // A Cc recipient could unsubscribe the To recipient.
    unsubscribe: !draft.transactional && recipients.length === 1,
    opens: draft.trackOpens,
    clicks: draft.trackClicks,
  };
}

function marksOf({ fields, html = '' }: ReadMail): Marks {
  return {
    unsubscribe: fields.get('list-unsubscribe') !== undefined,
    opens: html.includes('https://mail.shop.test/o/'),
    clicks: html.includes('https://mail.shop.test/c/'),
  };
}

/** Fails unless everybody got exactly what they should, and everything that is recorded says so. */
export async function judgeCase(sent: SentCase, arrived: readonly ArrivedMail[]): Promise<void> {
  const mails = arrived.map((mail) => ({ ...mail, read: readSentMail(mail.source) }));
  const messages = expectedMessages(sent);
  requireRecipients(sent, messages, mails);
  for (const mail of mails) {
    requireContent(sent, messages, mail);
    await requireSignature(sent, mail);
  }
  requireSameBytes(sent, mails);
  await requireRecords(sent, messages);
}

type JudgedMail = ArrivedMail & { readonly read: ReadMail };

/** Everybody gets each mail once, and only recipients get what acts for them. */
function requireRecipients(
  sent: SentCase,
  messages: readonly ExpectedMessage[],
  mails: readonly JudgedMail[],
): void {
  const { draft, submitted } = sent;
  assert.deepEqual(
    [...submitted.skipped].sort(),
    [...draft.suppressed].sort(),
    'skipped addresses',
  );
  const line = (address: string, marks: Marks): string => `${address} ${JSON.stringify(marks)}`;
  const expected = messages.flatMap((message) => [
    ...message.recipients.map((address) => line(address, expectedMarks(sent, message))),
    ...(message.archive === undefined ? [] : [line(message.archive, noMarks)]),
  ]);
  const got = mails.flatMap(({ to, read }) => to.map((address) => line(address, marksOf(read))));
  assert.deepEqual(
    got.toSorted(),
    outcomeOf(sent.values) === 'delivered' ? expected.toSorted() : [],
    'who got mail',
  );
}

function requireContent(
  { values, draft }: SentCase,
  messages: readonly ExpectedMessage[],
  { to, source, read }: JudgedMail,
): void {
  const { name } = draft;
  const [header] = read.mailboxes('to');
  const message = messages.find(
    ({ to: first, recipients, archive }) =>
      (isTemplate(values) ? first : draft.to) === header?.address &&
      to.every((address) => recipients.includes(address) || address === archive),
  );
  assert.ok(message, `a mail to ${to} for ${header?.address}`);
  const isNamed = values.door !== 'template SMTP' || messages.length === 1;
  assert.equal(header?.name, isNamed ? (draft.toName ?? '') : '');
  assert.deepEqual(read.mailboxes('from'), [{ address: 'orders@shop.test', name: 'Demo Shop' }]);
  assert.deepEqual(
    read.mailboxes('cc').map(({ address }) => address),
    message.visibleCc,
  );
  for (const hidden of [...draft.bcc, ...(draft.archive === draft.to ? [] : [draft.archive ?? ''])])
    assert.ok(
      hidden === '' || hidden === message.to || !source.includes(hidden),
      `${to} can see ${hidden}`,
    );
  const [replyTo] = read.mailboxes('reply-to');
  if (draft.receiveReplies)
    assert.ok(replyAddresses.read(replyTo?.address ?? ''), 'a reply address');
  else assert.equal(replyTo?.address, draft.replyTo);
  for (const [field, value] of Object.entries(draft.headers))
    assert.equal(read.fields.get(field.toLowerCase()), value);
  assert.equal(read.fields.get('x-signalpost-attributes'), undefined);
  for (const value of Object.values(draft.attributes)) assert.ok(!source.includes(value));
  assert.equal(read.subject, expectedSubject(values, name));
  const html = read.html ?? '';
  const text = isTemplate(values)
    ? `<p>Hello ${name} &amp; Söhne</p>`
    : `<p>Hello ${name} &amp; S&ouml;hne</p>`;
  assert.ok(html.includes(text), html);
  assert.deepEqual(
    [...html.matchAll(/<li>(.*?)<\/li>/g)].map(([, item]) => item),
    draft.items.map((item) =>
      item
        .replace('&', '&amp;')
        .replace('<', '&lt;')
        .replace('>', isTemplate(values) ? '&gt;' : '>'),
    ),
  );
  assert.equal(html.includes(`https://shop.test/orders?of=${name}`), !marksOf(read).clicks);
  if (isTemplate(values)) {
    const link = read.fields.get('list-unsubscribe')?.trim().slice(1, -1) ?? '';
    assert.ok(
      html.includes(`<a href="${link}">Unsubscribe</a>`) || html.includes('<a>Unsubscribe</a>'),
      html,
    );
  } else if (!draft.trackOpens && !draft.trackClicks)
    assert.ok(source.includes(ownHtml(draft)), 'its own text');
  const images = draft.template === 'pictured' ? [templateImage] : [];
  assert.deepEqual(
    read.files
      .map((file) => [file.filename, file.type, file.contentId, file.content.toString('base64')])
      .toSorted(),
    [...draft.files, ...images]
      .map(({ filename, contentType, contentId, content }) => [
        filename,
        contentType,
        contentId,
        content.toString('base64'),
      ])
      .toSorted(),
  );
}

function expectedSubject(values: SendCase, name: string): string {
  if (!isTemplate(values)) return `Own order of ${name}`;
  const isDue = values.templateVersion === 'due' && values.sendAt === 'ahead';
  return `${values.locale === 'variant' ? 'DE ' : ''}${isDue ? 'New order' : 'Order'} of ${name} & Söhne`;
}

/** All signatures verify and cover what programs act on (RFC 8058 section 4). */
async function requireSignature({ way }: SentCase, { source, read }: JudgedMail): Promise<void> {
  const { results } = await dkimVerify(Buffer.from(source), {
    resolver: readTestResolver(way.dns),
  });
  assert.ok(results.length > 0, 'it is signed');
  for (const { status, signingDomain } of results)
    assert.deepEqual([status.result, signingDomain], ['pass', 'shop.test'], status.comment);
  const signed = read.fields.get('dkim-signature')?.replaceAll(/\s/g, '').toLowerCase() ?? '';
  for (const name of [
    'from',
    'to',
    'subject',
    'reply-to',
    ...(read.fields.get('list-unsubscribe') ? ['list-unsubscribe', 'list-unsubscribe-post'] : []),
  ])
    assert.match(signed, new RegExp(`[=:]${name}[:;]`), `${name} is signed`);
}

/** All mails of a message are the same; each has a return path of its own. */
function requireSameBytes({ draft, values }: SentCase, mails: readonly JudgedMail[]): void {
  const paths = mails.map(({ from }) => {
    const path = returnPaths.read(from);
    assert.ok(path, `${from} is a return path`);
    return path;
  });
  assert.equal(new Set(mails.map(({ from }) => from)).size, mails.length, 'return paths');
  const byMessage = Map.groupBy(mails, (_, index) => paths[index]?.messageId);
  for (const [messageId, own] of byMessage) {
    const sources = own.filter(({ to }) => to[0] !== draft.archive).map(({ source }) => source);
    assert.ok(new Set(sources).size <= 1, 'all recipients get the same bytes');
    if (isTemplate(values))
      for (const { read } of own)
        assert.equal(read.fields.get('message-id'), `<${messageId}@shop.test>`);
  }
}

interface StoredEvent {
  readonly kind: string;
  readonly recipient: number | null;
}

const finalKinds = ['delivered', 'bounced', 'expired', 'failed', 'suppressed', 'canceled'];

/** One final event for each recipient, nothing waits, and the totals are those of the events. */
async function requireRecords(sent: SentCase, messages: readonly ExpectedMessage[]): Promise<void> {
  const { draft, way, values, key, submitted } = sent;
  const { pool } = way.stored.database;
  const { rows: ids } = await pool.query<{ id: string; to: string }>(
    "select id, content ->> 'to' as to from message where account_id = $1 order by id",
    [draft.accountId],
  );
  assert.deepEqual(ids.map(({ to }) => to).toSorted(), messages.map(({ to }) => to).toSorted());
  assert.ok(ids.some(({ id }) => id === submitted.messageId));
  const manage = new ManagementClient(way.accepting, key);
  const outcome = outcomeOf(values);
  for (const { id, to } of ids) {
    const message = messages.find((one) => one.to === to);
    assert.ok(message);
    const { body } = await manage.get(`/accounts/${draft.accountId}/messages/${id}`);
    const all = [
      ...message.recipients,
      ...(message.archive === undefined ? [] : [message.archive]),
    ];
    const recipients = body.recipients as { address: string; state: string }[];
    assert.deepEqual(
      recipients.map(({ address, state }) => [address, state]),
      all.map((address) => [address, outcome]),
    );
    assert.deepEqual([body.state, body.nextAttempt], [outcome, null]);
    assert.deepEqual(body.attributes ?? {}, draft.attributes);
    const events = body.events as StoredEvent[];
    assert.deepEqual(
      events
        .filter(({ kind }) => finalKinds.includes(kind))
        .map(({ recipient }) => recipient)
        .toSorted(),
      all.map((_, number) => number),
      JSON.stringify(events),
    );
  }
  const { rows: waiting } = await pool.query('select from queue_entry where account_id = $1', [
    draft.accountId,
  ]);
  assert.equal(waiting.length, 0, 'nothing waits');
  const count = messages.flatMap(({ recipients }) => recipients).length;
  for (const table of ['report_total', 'report_destination']) {
    const { rows } = await pool.query(
      `select sum(accepted)::int as accepted, sum(delivered)::int as delivered, sum(expired)::int as expired,
         sum(bounced_hard + bounced_soft + failed + canceled)::int as others
       from ${table} where account_id = $1`,
      [draft.accountId],
    );
    assert.deepEqual(
      rows,
      [{ accepted: count, delivered: 0, expired: 0, others: 0, [outcome]: count }],
      table,
    );
  }
}
