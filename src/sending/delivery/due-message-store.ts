import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow } from '../../base/database/statements.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { type MessageContent, readContent } from '../../content/message/message-content.ts';
import type { MessageState } from '../../content/message/message-state.ts';
import { insertEvents } from '../../content/message/write-events.ts';
import type { ClaimedMessage } from '../queue/attempt.ts';

/** Addresses that a message of this account may be suppressed for. */
export interface SuppressionQuestion {
  readonly accountId: AccountId;
  readonly transactional: boolean;
  /** Normalized. */
  readonly addresses: readonly string[];
}

/** Reads the suppressed addresses of several messages in one statement. */
export async function readSuppressed(
  kysely: Kysely,
  questions: readonly SuppressionQuestion[],
): Promise<(readonly string[])[]> {
  const rows = questions.flatMap(({ accountId, transactional, addresses }, place) =>
    addresses.map((address) => ({ place, account_id: accountId, transactional, address })),
  );
  const found = await allRows<{ place: number; address: string }>(kysely)`
    select r.place, r.address
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as r (place int, account_id text, transactional boolean, address text)
    cross join lateral (
      select from suppression s
      where s.account_id = r.account_id and s.address = r.address
        and (s.reason <> 'unsubscribe' or not r.transactional)
        and (s.expires_at is null or s.expires_at > now())
      limit 1) as hit`;
  return questions.map((_, place) =>
    found.filter((row) => row.place === place).map(({ address }) => address),
  );
}

/** The state of a message: that of its To recipient. */
export async function readState(
  kysely: Kysely,
  { accountId, messageId, retentionDays }: ClaimedMessage,
): Promise<MessageState | undefined> {
  const row = await firstRow<{ readonly state: MessageState }>(kysely)`
    select state from message where account_id = ${accountId} and id = ${messageId} and retention_days = ${retentionDays}`;
  return row?.state;
}

/** What a scheduled message is made from. */
export interface DueDecision {
  readonly templateVersion: number;
  /** Cc and Bcc addresses to add to the skipped ones. */
  readonly suppressedCc: readonly string[];
  /** Why the accepted version is used instead of the requested one. */
  readonly versionKept: string | undefined;
}

interface DecidedMessage {
  readonly templateVersion: number;
  readonly content: MessageContent;
}

/**
 * Saves a decision before anything is sent, unless there is one for another recipient of the message, so that every attempt sends
 * the same bytes.
 * @returns the message as it was decided; undefined if the lease is lost
 */
export async function saveDueDecision(
  kysely: Kysely,
  message: ClaimedMessage,
  { templateVersion, suppressedCc, versionKept }: DueDecision,
): Promise<DecidedMessage | undefined> {
  const { accountId, messageId, recipient, retentionDays, owner, fence } = message;
  const kept = versionKept === undefined ? null : JSON.stringify({ reason: versionKept });
  await firstRow(kysely)`
    with held as materialized (
      select q.message_id from queued_delivery q
      where q.account_id = ${accountId} and q.message_id = ${messageId} and q.recipient = ${recipient}
        and q.lease_owner = ${owner} and q.fence = ${fence} and q.due_at > now()
      for update of q),
    decided as (
      update message m
      set template_version = ${templateVersion},
        content = ((m.content::jsonb - 'templateVersion') || jsonb_build_object('checkedAtDue', true, 'suppressedCc',
          coalesce(m.content::jsonb -> 'suppressedCc', '[]') || ${JSON.stringify(suppressedCc)}::jsonb))::json
      from held
      where m.account_id = ${accountId} and m.id = held.message_id and m.retention_days = ${retentionDays}
        and m.content -> 'checkedAtDue' is null
      returning m.account_id, m.id as message_id, m.retention_days, ${kept}::json as detail)
    ${sql.raw(insertEvents({ of: 'kept', kind: 'version-kept', detail: 'kept.detail' }))}
    from decided as kept where kept.detail is not null`;
  const row = await firstRow<Omit<DecidedMessage, 'content'> & { readonly content: unknown }>(
    kysely,
  )`
    select m.template_version as "templateVersion", m.content
    from message m join queued_delivery q on q.account_id = m.account_id and q.message_id = m.id
    where m.account_id = ${accountId} and m.id = ${messageId} and m.retention_days = ${retentionDays}
      and q.recipient = ${recipient} and q.lease_owner = ${owner} and q.fence = ${fence} and q.due_at > now()`;
  const content = readContent(row?.content);
  return row && content && { ...row, content };
}
