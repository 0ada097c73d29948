import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import { storableJson } from '../../base/database/storable-json.ts';
import { lowerCase } from '../../base/values/email-address.ts';
import type { MessageId } from '../../base/values/ids.ts';
import type { StoredEventKind } from '../../content/message/event-kinds.ts';
import {
  accountsWithTag,
  archiveCopyAddress,
  archiveRecipient,
  ccAddresses,
  hasOneRecipient,
  recipientAddress,
  toAddress,
} from '../../content/message/message-sql.ts';
import { insertEvents } from '../../content/message/write-events.ts';
import { maxFeedbackEvents } from '../event-limits.ts';

/** Something that happened to a message after handover, as reported from outside. */
export interface FeedbackEvent {
  readonly messageId: MessageId;
  /** Of its account, if the report names it. */
  readonly accountTag?: Buffer | undefined;
  /** 0 is To, 1 and up are Cc; an address is looked up among the message's recipients. */
  readonly recipient: number | { readonly address: string };
  readonly kind: Extract<StoredEventKind, 'bounced' | 'complained' | 'delayed' | 'unsubscribed'>;
  readonly detail: Readonly<Record<string, unknown>>;
  /** Identifies the report, so that receiving it again changes nothing. */
  readonly report: string;
  /** The addresses that the report names for its recipient, in lower case. */
  readonly named?: readonly string[] | undefined;
}

export interface WrittenFeedback {
  /** How many exceeded their message's limit. */
  readonly past: number;
  /** Those about a message or a recipient that doesn't exist. */
  readonly unmatched: readonly FeedbackEvent[];
}

/**
 * Writes events reported for our messages, up to a limit per recipient and kind: anyone who has the message knows its
 * return path, and relays repeat reports.
 */
export async function writeFeedbackEvents(
  kysely: Kysely,
  events: readonly FeedbackEvent[],
): Promise<WrittenFeedback> {
  let past = 0;
  const unmatched: FeedbackEvent[] = [];
  for (let from = 0; from < events.length; from += maxRowsPerStatement) {
    const some = await writeSome(kysely, events.slice(from, from + maxRowsPerStatement));
    past += some.past;
    unmatched.push(...some.unmatched);
  }
  return { past, unmatched };
}

/** Whether a report names only other recipients than the one whose return path it came to, for whom alone it counts. */
const namesAnother = `lower(${recipientAddress('m', 'i.recipient')}) <> all (i.named)`;

/** The recipient of the message that it names, in the form of masked addresses. */
const namedRecipient = `coalesce((
  select case place when 0 then '<to>' else format('<cc %s>', place) end
  from (
    select 0 as place, ${toAddress('m')} as address
    union all select place, address from ${ccAddresses('m')} with ordinality as c (address, place)) r
  where lower(r.address) = any (i.named) limit 1), 'another address')`;

/** Max events per statement; a relay may report thousands in one request. */
const maxRowsPerStatement = 500;

async function writeSome(
  kysely: Kysely,
  events: readonly FeedbackEvent[],
): Promise<WrittenFeedback> {
  const rows = events.map((event) => ({
    message_id: event.messageId,
    account_tag: event.accountTag?.toString('hex') ?? null,
    recipient: typeof event.recipient === 'number' ? event.recipient : null,
    address: typeof event.recipient === 'number' ? null : lowerCase(event.recipient.address),
    id: eventId(event),
    kind: event.kind,
    detail: event.detail,
    named: event.named?.length === 0 ? undefined : event.named,
  }));
  // A report about mail of release 0.2 may have only the message ID, so each account is searched separately. It counts only
  // with an address of the message. With several recipients, an unknown address may be anybody's.
  const found = await allRows<{ id: string; fits: boolean }>(kysely)`
    with found as materialized (
      select distinct on (m.account_id, m.id, i.id) m.account_id, m.id as message_id, m.retention_days, i.id, i.kind,
        case when ${sql.raw(namesAnother)} then (i.detail::jsonb || jsonb_build_object('namedRecipient', ${sql.raw(namedRecipient)}))::json
          else i.detail end as detail,
        coalesce(i.recipient, case
          when i.address = lower(${sql.raw(archiveCopyAddress('m'))}) then ${sql.raw(archiveRecipient('m'))}::smallint
          when i.address = lower(${sql.raw(toAddress('m'))})
            or i.account_tag is not null and ${sql.raw(hasOneRecipient('m'))} then 0
          else (
            select c.place::smallint from ${sql.raw(ccAddresses('m'))} with ordinality as c (address, place)
            where lower(c.address) = i.address limit 1) end) as recipient
      from json_to_recordset(${storableJson(JSON.stringify(rows))}::json)
        as i (message_id uuid, account_tag text, recipient smallint, address text, id uuid, kind text, detail json,
          named text[])
      cross join lateral (${sql.raw(accountsWithTag('i.account_tag'))}) as a
      cross join lateral (
        select account_id, id, retention_days, content from message
        where account_id = a.id and id = i.message_id limit 1) as m),
    fresh as (
      select f.*, row_number() over (partition by f.account_id, f.message_id, f.kind, f.recipient order by f.id) as place
      from found f
      where f.recipient is not null and not exists (
        select from message_event e where e.account_id = f.account_id and e.message_id = f.message_id and e.id = f.id
          and e.retention_days = f.retention_days)),
    placed as materialized (
      select f.*, place + stored <= ${maxFeedbackEvents} as fits from fresh f
      cross join lateral (
        select count(*) as stored from (
          select from message_event e
          where e.account_id = f.account_id and e.message_id = f.message_id and e.retention_days = f.retention_days
            and e.kind = f.kind and e.recipient = f.recipient
          limit ${maxFeedbackEvents}) as s) as counted),
    written as (
      ${sql.raw(
        insertEvents({
          of: 'placed',
          id: 'id',
          kind: { from: 'kind' },
          recipient: 'recipient',
          detail: 'detail',
        }),
      )}
      from placed where fits
      on conflict do nothing)
    select f.id, coalesce(p.fits, true) as fits
    from found f left join placed p using (account_id, message_id, id)
    where f.recipient is not null`;
  const matched = new Set(found.map(({ id }) => id));
  return {
    past: found.filter(({ fits }) => !fits).length,
    unmatched: events.filter((_, place) => !matched.has(rows[place]?.id ?? '')),
  };
}

/** The same report about the same message always gets the same id. */
function eventId(event: FeedbackEvent): string {
  const recipient = typeof event.recipient === 'number' ? event.recipient : event.recipient.address;
  const name = JSON.stringify([event.messageId, recipient, event.kind, event.report]);
  const hex = createHash('sha256').update(name).digest('hex');
  // A version 8 UUID (RFC 9562 section 5.8).
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
