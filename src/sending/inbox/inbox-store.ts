import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database, Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, run } from '../../base/database/statements.ts';
import type { ComparableAddress } from '../../base/values/email-address.ts';
import { type AccountId, newId } from '../../base/values/ids.ts';
import { maxTestMessages } from '../../content/message/test-class.ts';
import type {
  CapturedMessage,
  CapturedMessageSummary,
  InboxMessageId,
  IncomingMail,
} from './inbox-message.ts';

/** Maximum number of messages and of bytes (as received); the oldest are removed first. */
const maxInboxMessages = 10_000;
const maxInboxBytes = 1024 ** 3;

/** The same for an account's copies of test messages. */
const maxTestBytes = 256 * 1024 ** 2;

/** Maximum bytes of sources in one API response; beyond it, the response contains fewer messages than requested. */
const maxResponseBytes = 32 * 1024 ** 2;

/** The header that names the original recipients of redirected mail, in lowercase. */
const redirectHeader = 'x-signalpost-original-to';

const beginningCharacters = 500;

/** A filter for messages in the API. */
export interface InboxFilter {
  /** An envelope recipient, case-insensitive. */
  readonly to: string | undefined;
  /** Received at or after this time. */
  readonly since: Date | undefined;
}

/** SQL: the columns of `CapturedMessage`. */
const messageColumns = sql`
  id, received_at as "receivedAt", envelope_from as "envelopeFrom", envelope_to as "envelopeTo", test, subject, headers, html,
  text, unread, source`;

/** SQL: the columns of `CapturedMessageSummary`, of the message `m`. */
const summaryColumns = sql`
  m.id, m.received_at as "receivedAt", m.envelope_from as "envelopeFrom", m.envelope_to as "envelopeTo", (
    select field->>1 from jsonb_array_elements(m.headers) field where lower(field->>0) = 'from' limit 1) as "from",
  m.subject, coalesce(left(m.text, ${beginningCharacters}), '') as beginning`;

export class InboxStore {
  readonly #kysely: Kysely;
  readonly #visible: RawBuilder<SqlBool>;

  /** @param visible restricts the messages that this store can see */
  constructor(
    { kysely }: Pick<Database, 'kysely'>,
    visible: RawBuilder<SqlBool> = sql<SqlBool>`true`,
  ) {
    this.#kysely = kysely;
    this.#visible = visible;
  }

  /** What an account sent: nothing of others, and no system mail, whose links would let the reader act as its recipient. */
  ofAccount(accountId: AccountId, only: 'all' | 'tests' = 'all'): InboxStore {
    const isOwn = sql<SqlBool>`account_id = ${accountId} and (test or ${only === 'all'})`;
    return new InboxStore({ kysely: this.#kysely }, isOwn);
  }

  /** Stores a message; committed once this resolves. */
  async add(mail: IncomingMail): Promise<InboxMessageId> {
    const id = newId() as InboxMessageId;
    await run(this.#kysely)`
      insert into inbox_message (id, account_id, received_at, envelope_from, envelope_to, subject, headers, html, text,
        unread, test, source)
      values (${id}, ${mail.accountId ?? null}, now(), ${mail.envelopeFrom}, ${mail.envelopeTo}, ${mail.subject},
        ${JSON.stringify(mail.headers)}, ${mail.html}, ${mail.text}, ${mail.unread}, ${mail.test ?? false}, ${mail.source})`;
    return id;
  }

  /** The matching messages, newest first. */
  async find(filter: InboxFilter, limit: number): Promise<CapturedMessage[]> {
    return await allRows<CapturedMessage>(this.#kysely)`
      select ${messageColumns}
      from (
        select *, sum(octet_length(source)) over (order by received_at desc, id desc) - octet_length(source) as before
        from (
          select * from inbox_message
          where ${this.#visible} and ${matches(filter)}
          order by received_at desc, id desc
          limit ${limit}
        ) newest
      ) counted
      where before < ${maxResponseBytes}
      order by received_at desc, id desc`;
  }

  async read(id: InboxMessageId): Promise<CapturedMessage | undefined> {
    const row = await firstRow<CapturedMessage>(this.#kysely)`
      select ${messageColumns}
      from inbox_message where id = ${id} and ${this.#visible}`;
    return row;
  }

  /**
   * Summaries after a given one, newest first; `place` is each one's position.
   * @param search literal text to find in the subject, an address, a name or the text, ignoring case; empty matches all
   */
  async listAfter(
    search: string,
    after: { readonly receivedAt: string; readonly id: string } | undefined,
    limit: number,
  ): Promise<(CapturedMessageSummary & { readonly place: string })[]> {
    return await allRows<CapturedMessageSummary & { readonly place: string }>(this.#kysely)`
      select ${summaryColumns}, m.received_at::text as place
      from inbox_message m
      where ${this.#visible} and (${mentions(search)}) and (${after?.receivedAt ?? null}::timestamptz is null
        or (m.received_at, m.id) < (${after?.receivedAt ?? null}::timestamptz, ${after?.id ?? null}::uuid))
      order by m.received_at desc, m.id desc limit ${limit}`;
  }

  /** Ids and recipients of the messages of the last seconds, for nodes that did not receive them. */
  async latest(seconds: number): Promise<{ id: string; envelopeTo: readonly string[] }[]> {
    return await allRows<{ id: string; envelopeTo: string[] }>(this.#kysely)`
      select id, envelope_to as "envelopeTo" from inbox_message
      where received_at > now() - make_interval(secs => ${seconds})
      order by received_at, id`;
  }

  /** Deletes a message. @returns whether it existed */
  async removeOne(id: InboxMessageId, kysely = this.#kysely): Promise<boolean> {
    const rows = await allRows(kysely)`
      delete from inbox_message where id = ${id} and ${this.#visible} returning id`;
    return rows.length > 0;
  }

  /** Deletes matching messages. */
  async remove(filter: InboxFilter, kysely = this.#kysely): Promise<void> {
    await run(kysely)`delete from inbox_message where ${this.#visible} and ${matches(filter)}`;
  }

  /**
   * Deletes the mail to an address, including its copies for others and mail redirected to DELIVERY_REDIRECT, except what
   * another account sent.
   */
  async eraseRecipient(
    accountId: AccountId,
    address: ComparableAddress,
    kysely = this.#kysely,
  ): Promise<void> {
    await run(kysely)`
      delete from inbox_message
      where (account_id = ${accountId} or account_id is null) and (
        exists (select from unnest(envelope_to) as recipient where lower(recipient) = ${address})
        or exists (
          select from jsonb_array_elements(headers) field
          where lower(field->>0) in ('to', 'cc', ${redirectHeader})
            and ${address} = any (regexp_split_to_array(lower(field->>1), '[[:space:]<>,]+'))))`;
  }

  /** Removes an account's oldest copies of test messages over the limits; the newest one always stays. */
  async trimTests(
    accountId: AccountId,
    messages = maxTestMessages,
    bytes = maxTestBytes,
  ): Promise<void> {
    await run(this.#kysely)`
      delete from inbox_message where id in (
        select id from (
          select id, row_number() over newest_first as place, sum(octet_length(source)) over newest_first as bytes
          from inbox_message where account_id = ${accountId} and test
          window newest_first as (order by received_at desc, id desc)
        ) counted
        where place > 1 and (place > ${messages} or bytes > ${bytes})
      )`;
  }

  /** Removes the oldest messages over the limits; the newest one always stays. */
  async trim(messages = maxInboxMessages, bytes = maxInboxBytes): Promise<void> {
    await run(this.#kysely)`
      delete from inbox_message where id in (
        select id from (
          select id, row_number() over newest_first as place, sum(octet_length(source)) over newest_first as bytes
          from inbox_message
          window newest_first as (order by received_at desc, id desc)
        ) counted
        where place > 1 and (place > ${messages} or bytes > ${bytes})
      )`;
  }
}

function matches({ to, since }: InboxFilter) {
  const recipient =
    to === undefined
      ? sql<SqlBool>`true`
      : sql<SqlBool>`exists (select from unnest(envelope_to) as recipient where lower(recipient) = lower(${to}))`;
  return since === undefined ? recipient : sql<SqlBool>`received_at >= ${since} and ${recipient}`;
}

/** `strpos` matches literally, so `%` and `_` have no special meaning. */
function mentions(search: string) {
  if (search === '') return sql<SqlBool>`true`;
  return sql<SqlBool>`
    strpos(lower(subject), lower(${search})) > 0
    or strpos(lower(envelope_from), lower(${search})) > 0
    or strpos(lower(array_to_string(envelope_to, ' ')), lower(${search})) > 0
    or exists (
      select from jsonb_array_elements(headers) field
      where lower(field->>0) in ('from', 'to', 'cc', 'reply-to') and strpos(lower(field->>1), lower(${search})) > 0)
    or strpos(lower(coalesce(text, '')), lower(${search})) > 0`;
}
