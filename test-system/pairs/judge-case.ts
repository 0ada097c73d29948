import assert from 'node:assert/strict';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import type pg from 'pg';
import { ReplyAddresses } from '../../src/content/message/reply-address.ts';
import { ReturnPaths } from '../../src/sending/delivery/return-path.ts';
import { ManagementClient } from '../../test/support/management-client.ts';
import { type ReadMail, readSentMail } from '../../test/support/read-mail.ts';
import { readTestResolver } from '../../test/support/test-resolver.ts';
import { testKey } from '../../test/support/test-service.ts';
import type { DeliveryWay } from './delivery-ways.ts';
import type { ArrivedMail } from './receivers.ts';
import { type Draft, type SendCase, templateImage } from './send-options.ts';
import { ownHtml, type Submitted } from './submit-draft.ts';
import { erasedCc, surroundings } from './surroundings.ts';

/** A case that has been sent. */
export interface SentCase {
  readonly values: SendCase;
  readonly draft: Draft;
  readonly way: DeliveryWay;
  readonly key: string;
  readonly submitted: Submitted;
  /** To recipients by the IDs of the messages that it became, and of their copies. */
  readonly messages: ReadonlyMap<string, string>;
  readonly copies: Map<string, string>;
  /** How its messages wait for what keeps them from being sent. */
  waiting?: readonly Waiting[];
  /** What happens to it failed. */
  problem?: unknown;
}

/** A message that isn't sent. */
interface Waiting {
  readonly state: string;
  readonly reason: string | undefined;
  /** Mail that arrived nevertheless. */
  readonly arrived: number;
}

/** A message that a case must become: over SMTP, each recipient gets one. */
interface ExpectedMessage {
  readonly to: string;
  /** In the order of their numbers, without the archive. */
  readonly recipients: readonly string[];
  readonly archive: string | undefined;
  readonly visibleCc: readonly string[];
  readonly outcome: 'delivered' | 'expired' | 'canceled';
  /** Its To recipient has been erased. */
  readonly isErased: boolean;
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
  const erased = erasedWhileWaiting({ values, draft });
  const message = (
    recipients: readonly string[],
    visibleCc: readonly string[],
  ): ExpectedMessage => ({
    to: recipients[0] ?? '',
    recipients,
    archive: archive !== undefined && recipients.includes(archive) ? undefined : archive,
    visibleCc: visibleCc.filter((address) => address !== erased),
    outcome: recipients[0] === erased ? 'canceled' : outcomeOf(values),
    isErased: recipients[0] === erased || isErasedAtTheEnd(values, draft, recipients[0] ?? ''),
  });
  // A program's own message says what it says.
  const ownCc = isTemplate(values) ? [] : cc;
  return overSmtp(values)
    ? everybody.map((address) => message([address], ownCc))
    : [message(everybody, cc.filter(isLeft))];
}

/** Whose data was erased before the message was sent. */
function erasedWhileWaiting(sent: Pick<SentCase, 'values' | 'draft'>): string | undefined {
  if (sent.values.event === 'To erased while waiting') return sent.draft.to;
  return sent.values.event === 'Cc erased while waiting' ? erasedCc(sent) : undefined;
}

function isErasedAtTheEnd({ event }: SendCase, draft: Draft, to: string): boolean {
  if (event === 'addresses erased at the end' || event === 'content erased while waiting')
    return true;
  return event === 'To erased at the end' && to === draft.to;
}

/** What happens to every recipient of the case, unless they are erased. */
function outcomeOf({ deliverBefore, event }: SendCase): ExpectedMessage['outcome'] {
  if (event === 'canceled' || event === 'content erased while waiting') return 'canceled';
  return deliverBefore === 'passed' || event === 'sender removed' ? 'expired' : 'delivered';
}

/** Reads how the messages of a case wait. */
export async function readWaiting(sent: SentCase): Promise<Waiting[]> {
  const { way, key, draft } = sent;
  const manage = new ManagementClient(way.accepting, key);
  const arrived = (await way.arrived()).filter((mail) => isOfCase(mail, draft)).length;
  const views = [...sent.messages.keys()].map(async (id): Promise<Waiting> => {
    const { body } = await manage.get(`/accounts/${draft.accountId}/messages/${id}`);
    const next = body.nextAttempt as { readonly reason: string } | null;
    return { state: String(body.state), reason: next?.reason, arrived };
  });
  return Promise.all(views);
}

/** True if a mail is for somebody of the case. */
export function isOfCase({ to }: ArrivedMail, { name }: Draft): boolean {
  return to.some((address) => address.endsWith(`@${name}.test`));
}

/** Nothing is sent that waits for somebody, and all of it says for what. */
function requireWaiting({ values, waiting = [] }: SentCase): void {
  const { event, sendAt, deliverBefore } = values;
  const { reason } = surroundings[event];
  // Senders are checked when a scheduled message is sent.
  const isEnded =
    event.startsWith('sender removed') && (sendAt !== 'ahead' || deliverBefore === 'passed');
  if (reason === undefined || isEnded) return;
  assert.ok(waiting.length > 0);
  for (const message of waiting) {
    assert.deepEqual({ ...message, reason: '' }, { state: 'queued', reason: '', arrived: 0 });
    assert.match(message.reason ?? '', reason);
  }
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
  requireWaiting(sent);
  requireRecipients(sent, messages, mails);
  for (const mail of mails) {
    requireContent(sent, messages, mail);
    await requireSignature(sent, mail);
  }
  requireSameBytes(sent, mails);
  const uncertain = requireUnanswered(sent, mails);
  await requireRecords(sent, messages, uncertain);
  await requireErased(sent);
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
  const erased = erasedWhileWaiting(sent);
  const linesOf = (message: ExpectedMessage): string[] => [
    ...message.recipients
      .filter((address) => address !== erased)
      .map((address) => line(address, expectedMarks(sent, message))),
    ...(message.archive === undefined ? [] : [line(message.archive, noMarks)]),
  ];
  const expected = [
    ...messages.filter(({ outcome }) => outcome === 'delivered').flatMap(linesOf),
    ...(sent.copies.size > 0 ? messages.flatMap(linesOf) : []),
  ];
  const got = mails.flatMap(({ to, read }) => to.map((address) => line(address, marksOf(read))));
  assert.deepEqual(got.toSorted(), expected.toSorted(), 'who got mail');
}

function requireContent(
  sent: SentCase,
  messages: readonly ExpectedMessage[],
  { to, source, read }: JudgedMail,
): void {
  const { values, draft } = sent;
  const { name } = draft;
  const [header] = read.mailboxes('to');
  const ownTo = draft.to === erasedWhileWaiting(sent) ? undefined : draft.to;
  const message = messages.find(
    ({ to: first, recipients, archive }) =>
      (isTemplate(values) ? first : ownTo) === header?.address &&
      to.every((address) => recipients.includes(address) || address === archive),
  );
  assert.ok(message, `a mail to ${to} for ${header?.address}`);
  const isNamed = values.door !== 'template SMTP' || messages.length === 1;
  if (header !== undefined) assert.equal(header.name, isNamed ? (draft.toName ?? '') : '');
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
async function requireSignature(
  { way, values }: SentCase,
  { source, read }: JudgedMail,
): Promise<void> {
  const { results } = await dkimVerify(Buffer.from(source), {
    resolver: readTestResolver(way.dns),
  });
  assert.ok(results.length > 0, 'it is signed');
  for (const { status, signingDomain } of results)
    assert.deepEqual([status.result, signingDomain], ['pass', 'shop.test'], status.comment);
  const isFirstKey = results.every(({ selector }) => selector === 'first');
  assert.equal(isFirstKey, values.event !== 'DKIM key rotated', 'its key');
  const signed = read.fields.get('dkim-signature')?.replaceAll(/\s/g, '').toLowerCase() ?? '';
  for (const name of [
    'from',
    ...(read.fields.get('to') ? ['to'] : []),
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

/** What servers had got from a worker that died is what they get again. @returns the recipients of each message */
function requireUnanswered(
  { way, draft, values }: SentCase,
  mails: readonly JudgedMail[],
): ReadonlyMap<string, readonly string[]> {
  const unanswered = way.unanswered.filter((mail) => isOfCase(mail, draft));
  const isExpected =
    values.event === 'worker died after the dot' && values.deliverBefore !== 'passed';
  assert.equal(unanswered.length > 0, isExpected, 'unanswered');
  for (const { from, to, source } of unanswered)
    assert.deepEqual(
      mails.filter((mail) => mail.from === from).map((mail) => [mail.to, mail.source]),
      [[to, source]],
      'the same bytes on every attempt',
    );
  const byMessage = Map.groupBy(unanswered, ({ from }) =>
    String(returnPaths.read(from)?.messageId),
  );
  return new Map([...byMessage].map(([id, own]) => [id, own.flatMap(({ to }) => to)]));
}

interface StoredEvent {
  readonly kind: string;
  readonly recipient: number | null;
}

const finalKinds = ['delivered', 'bounced', 'expired', 'failed', 'suppressed', 'canceled'];

/** One final event for each recipient, nothing waits, and the totals are those of the events. */
async function requireRecords(
  sent: SentCase,
  messages: readonly ExpectedMessage[],
  uncertain: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const { draft, way, values, key, submitted, copies } = sent;
  const { pool } = way.stored.database;
  const { rows: ids } = await pool.query<{ id: string }>(
    'select id from message where account_id = $1 order by id',
    [draft.accountId],
  );
  const known = new Map([...sent.messages, ...copies]);
  assert.deepEqual(ids.map(({ id }) => id).toSorted(), [...known.keys()].toSorted());
  assert.deepEqual([...sent.messages.values()].toSorted(), messages.map(({ to }) => to).toSorted());
  assert.ok(sent.messages.has(submitted.messageId));
  const manage = new ManagementClient(way.accepting, key);
  const erased = erasedWhileWaiting(sent);
  const totals = { accepted: 0, delivered: 0, expired: 0, canceled: 0, others: 0 };
  for (const [id, to] of known) {
    const message = messages.find((one) => one.to === to);
    assert.ok(message);
    const outcome = copies.has(id) ? 'delivered' : message.outcome;
    const { body } = await manage.get(`/accounts/${draft.accountId}/messages/${id}`);
    const { archive } = message;
    const all = [...message.recipients, ...(archive === undefined ? [] : [archive])];
    const isLeft = (address: string): boolean => message.isErased || address !== erased;
    const left = all.filter(isLeft);
    // Without its content, nothing tells the account's own copy from a recipient.
    const counted = message.isErased && outcome === 'canceled' ? message.recipients : all;
    const recipients = (body.recipients as { address: string; state: string }[]).map(
      ({ address, state }) => [address, state],
    );
    assert.deepEqual(
      recipients.filter((_, number) => message.isErased || isLeft(all[number] ?? '')),
      message.isErased ? [[null, outcome]] : left.map((address) => [address, outcome]),
    );
    assert.deepEqual([body.state, body.nextAttempt], [outcome, null]);
    const keepsTexts = !message.isErased && values.event !== 'content erased at the end';
    assert.deepEqual(body.attributes ?? {}, keepsTexts ? draft.attributes : {});
    const events = body.events as StoredEvent[];
    const numbers = (isCounted: (kind: string) => boolean) =>
      events
        .filter(({ kind }) => isCounted(kind))
        .map(({ kind, recipient }) => `${kind} ${recipient}`)
        .toSorted();
    assert.deepEqual(
      numbers((kind) => finalKinds.includes(kind)),
      counted.flatMap((address, number) => (isLeft(address) ? [`${outcome} ${number}`] : [])),
      JSON.stringify(events),
    );
    assert.deepEqual(
      numbers((kind) => kind === 'uncertain'),
      (uncertain.get(id) ?? []).map((address) => `uncertain ${all.indexOf(address)}`).toSorted(),
    );
    totals.accepted += message.recipients.length;
    totals[outcome] += message.recipients.filter(isLeft).length;
  }
  const { rows: waiting } = await pool.query('select from queued_delivery where account_id = $1', [
    draft.accountId,
  ]);
  assert.equal(waiting.length, 0, 'nothing waits');
  for (const table of ['report_total', 'report_destination']) {
    const { rows } = await pool.query(
      `select sum(accepted)::int as accepted, sum(delivered)::int as delivered, sum(expired)::int as expired,
         sum(canceled)::int as canceled, sum(bounced_hard + bounced_soft + failed)::int as others
       from ${table} where account_id = $1`,
      [draft.accountId],
    );
    assert.deepEqual(rows, [totals], table);
  }
}

/** Nothing that was erased is left in any table. */
async function requireErased(sent: SentCase): Promise<void> {
  const { erased } = surroundings[sent.values.event];
  if (erased === undefined) return;
  const { texts, except = [] } = erased(sent);
  const left = await findInTables(sent.way.stored.database.pool, texts, except);
  assert.deepEqual(left, [], 'what is left');
}

/** The tables with one of the texts, as text or as bytes. */
async function findInTables(
  pool: pg.Pool,
  terms: readonly string[],
  except: readonly string[],
): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'signalpost' and c.relkind in ('r', 'p') and not c.relispartition and relname <> all ($1)`,
    [except],
  );
  const { rows } = await pool.query<{ name: string }>(
    tables
      .map(
        ({ name }) => `
          (select '${name}' as name from ${name} as t
           where exists (
             select from unnest($1::text[], $2::text[]) as term (plain, hex)
             where position(plain in lower(t::text)) > 0 or position(hex in t::text) > 0) limit 1)`,
      )
      .join(' union all '),
    [
      terms.map((term) => term.toLowerCase()),
      terms.map((term) => Buffer.from(term).toString('hex')),
    ],
  );
  return rows.map(({ name }) => name);
}
