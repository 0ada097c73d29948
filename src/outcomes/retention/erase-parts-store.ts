import { sql } from 'kysely';
import { webhookLogsLocked } from '../../base/database/advisory-locks.ts';
import { readerEventKinds } from '../../content/message/event-kinds.ts';
import {
  archiveCopyAddress,
  archiveRecipient,
  cancelErased,
  kindList,
} from '../../content/message/message-sql.ts';

// Parts of `with` lists. Each takes the name of the part with the account_id, message_id and retention_days of the
// messages.

/** Removes data about the reader's machine from an open or click. */
const withoutTraces = (table: 'e' | 'w') =>
  sql`(${sql.ref(`${table}.detail`)}::jsonb - 'userAgent' - 'network')::json`;

/** The endpoints of the account that the messages are of. */
const webhooksOf = (messages: string) =>
  sql`select id from webhook_endpoint where account_id = (select account_id from ${sql.table(messages)} limit 1) order by id`;

/**
 * Erases personal data from webhooks about the messages of an account. Pending ones are still sent, without reader data, and
 * aren't logged.
 * @param which of them, as a condition on the webhook `w` and the message `f`; default: all
 */
export const eraseWebhooks = (messages: string, which = sql`true`) => sql`
  posted as (
    update webhook_delivery w
    set detail = ${withoutTraces('w')}, last_request = null, last_answer = null, tries = '[]', erased = true
    from ${sql.table(messages)} as f
    where ${webhookLogsLocked('shared', webhooksOf(messages))}
      and w.account_id = f.account_id and w.message_id = f.message_id and ${which})`;

/** Erases personal data from the messages' opens and clicks, and from webhooks about the messages. */
export const eraseTraces = (messages: string) => sql`
  traces as (
    update message_event e set detail = ${withoutTraces('e')}
    from ${sql.table(messages)} as f
    where e.account_id = f.account_id and e.message_id = f.message_id and e.retention_days = f.retention_days
      and e.kind in (${sql.raw(kindList(readerEventKinds))})),
  ${eraseWebhooks(messages)}`;

/** Removes what finds the messages by attribute. */
export const deleteAttributes = (messages: string) => sql`
  unattributed as (
    delete from message_attribute a
    using ${sql.table(messages)} as f
    where a.account_id = f.account_id and a.message_id = f.message_id and a.retention_days = f.retention_days)`;

/**
 * Removes the messages' attachments; contents that nothing else uses are deleted with the sweep. An accept that has just
 * found one of them stored still has an hour to use it.
 */
export const eraseAttachments = (messages: string) => sql`
  unlinked as (
    delete from message_attachment a using ${sql.table(messages)} as f
    where a.account_id = f.account_id and a.message_id = f.message_id and a.retention_days = f.retention_days
    returning a.account_id, a.sha256),
  unused as (
    update attachment_content c set check_at = now() + interval '1 hour'
    where (c.account_id, c.sha256) in (select account_id, sha256 from unlinked)
      and c.check_at > now() + interval '1 hour')`;

const ofArchive = sql.raw(`q.recipient in (
  select ${archiveRecipient('m')} from message m
  where m.account_id = q.account_id and m.id = q.message_id and m.retention_days = q.retention_days
    and ${archiveCopyAddress('m')} is not null)`);

/**
 * Cancels the messages that are waiting, for whatever reason. The account's own copy is dropped, because without content, reports
 * couldn't tell it from a recipient.
 */
export const cancelWaiting = (messages: string) => sql`
  dropped as (
    delete from queued_delivery q using ${sql.table(messages)} as f
    where q.account_id = f.account_id and q.message_id = f.message_id and ${ofArchive}),
  canceled as (
    update queued_delivery q set ${sql.raw(cancelErased('content'))}
    from ${sql.table(messages)} as f
    where q.account_id = f.account_id and q.message_id = f.message_id and not ${ofArchive})`;
