import { awaitReplication } from '../../base/database/await-replication.ts';
import { scheduledClassOffset, scheduledReason } from '../../content/message/scheduled-class.ts';
import { outboxKeyPrefix } from './idempotency.ts';
import { unansweredAhead } from './idempotency-key-store.ts';

/**
 * The statement that accepts a batch: suppression check, idempotency keys, messages and queued deliveries in one commit. Each
 * array parameter is a column of the batch. It returns the rejected rows only: `n` with each suppressed address, or `n`
 * with a null address if the key is taken.
 *
 * Parameters for each row: $1 account_id, $2 message ID, $3 retention_days, $4 template_id, $5 template_version, $6 flags,
 * $7 external_id, $8 tag, $9 client_id, $10 seconds until it expires, $11 number of recipients, $12 content. For each
 * recipient: $13 n, $14 account_id, $15 address, $16 transactional. If some rows have a key, for each row: $17 key, $18
 * request_hash, $19 suppressed recipients, all null without a key. If some rows have a send time, deadline, attachments or
 * copies, those parameters, and for each row: $20 send_at, $21 deliver_before, null without, and $27 n of the first row of its
 * group; for each attached content: $22 n, $23 account_id, $24 message ID, $25 retention_days, $26 sha256. A group is stored as a
 * whole or not at all.
 */

/** Bits of the flags. */
export const transactionalBit = 1;
export const trackOpensBit = 2;
export const trackClicksBit = 4;
export const deliverWhenDelayedBit = 8;
export const newUsageBit = 16;

// As a subquery, it is evaluated once per statement instead of once per row.
const now = '(select now())';

/**
 * Rows made of arrays, and their number `n`. Arrays in a select list are read one by one; those in `from` would first be
 * copied into a table each.
 */
function rowsOf(alias: string, columns: Readonly<Record<string, string>>): string {
  const list = Object.entries(columns).map(([name, array]) => `unnest(${array}) as ${name}`);
  const number = `generate_subscripts(${Object.values(columns)[0]}, 1) as n`;
  return `(select ${[...list, number].join(', ')}) as ${alias}`;
}

// Each recipient is a lateral lookup with a limit, so that it stays one index probe however large the table is.
const recipients = rowsOf('r', {
  message: '$13::int4[]',
  account_id: '$14::text[]',
  address: '$15::text[]',
  transactional: '$16::boolean[]',
});

const blocked = `blocked as materialized (
  select r.message as n, r.address
  from ${recipients}
  cross join lateral (
    select from suppression s
    where s.account_id = r.account_id and s.address = r.address
      and (s.reason <> 'unsubscribe' or not r.transactional)
      and (s.expires_at is null or s.expires_at > ${now})
    limit 1) as hit)`;

const keys = rowsOf('k', {
  account_id: '$1::text[]',
  message_id: '$2::uuid[]',
  key: '$17::text[]',
  request_hash: '$18::bytea[]',
  suppressed: '$19::text[]',
});

// Inserts in index order, so that two batches can't deadlock.
function claims(refused: string): string {
  return `insert into idempotency_key as known (account_id, key, request_hash, message_id, suppressed_recipients, created_at)
  select k.account_id, k.key, k.request_hash, k.message_id, string_to_array(k.suppressed, ' '),
    ${now} + case when starts_with(k.key, '${outboxKeyPrefix}') then ${unansweredAhead} else interval '0' end
  from ${keys}
  where k.key is not null and k.n not in (${refused})
  order by k.account_id, k.key`;
}

// One probe per key, then an insert without conflict handling. If another node claims a key in between, the statement
// fails (`isKeyRace`) and is retried with `upsertClaims`.
const optimisticTaken = `taken as materialized (
  select k.n from ${rowsOf('k', { account_id: '$1::text[]', key: '$17::text[]' })}
  cross join lateral (
    select from idempotency_key s where s.account_id = k.account_id and s.key = k.key limit 1) as hit)`;

// A key older than 24 hours can be reused.
const upsertClaims = `claimed as (${claims('select n from blocked_row')}
  on conflict (account_id, key) do update
  set request_hash = excluded.request_hash, message_id = excluded.message_id,
    suppressed_recipients = excluded.suppressed_recipients, created_at = excluded.created_at
  where known.created_at <= ${now} - interval '24 hours'
  returning known.message_id),
taken as materialized (
  select k.n from ${rowsOf('k', { message_id: '$2::uuid[]', key: '$17::text[]' })}
  where k.key is not null and k.message_id not in (select message_id from claimed)
    and k.n not in (select n from blocked_row))`;

const messageRows = rowsOf('i', {
  account_id: '$1::text[]',
  id: '$2::uuid[]',
  retention_days: '$3::smallint[]',
  template_id: '$4::text[]',
  template_version: '$5::int4[]',
  flags: '$6::int4[]',
  external_id: '$7::text[]',
  tag: '$8::text[]',
  client_id: '$9::text[]',
  content: '$12::json[]',
});

const queueColumns = {
  account_id: '$1::text[]',
  id: '$2::uuid[]',
  retention_days: '$3::smallint[]',
  flags: '$6::int4[]',
  lifetime: '$10::int4[]',
  recipients: '$11::int4[]',
};

const queueRows = rowsOf('i', queueColumns);

const timedRows = rowsOf('i', {
  ...queueColumns,
  external_id: '$7::text[]',
  tag: '$8::text[]',
  send_at: '$20::text[]',
  deliver_before: '$21::text[]',
});

/** Rows of a repeated statement that are stored already change nothing. */
function isStored(id: string, repeated: boolean): string {
  return repeated ? `\n    and ${id} in (select id from message_row)` : '';
}

function messages(refused: string, repeated: boolean): string {
  return `message_row as (
  insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens,
    track_clicks, deliver_when_delayed, external_id, tag, client_id, accepted_at, state_at, content, new_call)
  select i.account_id, i.id, i.retention_days, i.template_id, i.template_version, i.flags & ${transactionalBit} <> 0,
    i.flags & ${trackOpensBit} <> 0, i.flags & ${trackClicksBit} <> 0, i.flags & ${deliverWhenDelayedBit} <> 0,
    i.external_id, i.tag, i.client_id, ${now}, ${now}, i.content, i.flags & ${newUsageBit} <> 0
  from ${messageRows}
  where i.n not in (${refused})${repeated ? '\n  on conflict do nothing\n  returning id' : ''})`;
}

/** A row for each recipient. @param count SQL of their number */
function recipientsUpTo(count: string): string {
  return `generate_series(0, ${count} - 1)`;
}

function timedDeliveries(refused: string, repeated: boolean): string {
  return `timed as materialized (
  select i.account_id, i.id, i.retention_days, i.flags, i.lifetime, i.recipients, i.external_id, i.tag,
    i.send_at::timestamptz as send_at, i.deliver_before::timestamptz as deliver_before
  from ${timedRows}
  where i.n not in (${refused})${isStored('i.id', repeated)}),
scheduled_row as (
  insert into scheduled_message (account_id, message_id, retention_days, send_at, lifetime_seconds, keep_until, tag,
    external_id)
  select account_id, id, retention_days, send_at, lifetime,
    send_at + (retention_days - ${scheduledClassOffset}) * interval '1 day', tag, external_id
  from timed where send_at is not null),
queue_row as (
  insert into queued_delivery (account_id, message_id, recipient, retention_days, priority, due_at, expires_at, reason,
    deliver_before)
  select account_id, id, ${recipientsUpTo('recipients')}, retention_days, case when flags & ${transactionalBit} <> 0 then 0 else 1 end,
    coalesce(send_at, ${now}), least(coalesce(send_at, ${now}) + lifetime * interval '1 second', deliver_before),
    case when send_at is not null then '${scheduledReason}' end, deliver_before
  from timed)`;
}

function deliveries(refused: string): string {
  return `queue_row as (
  insert into queued_delivery (account_id, message_id, recipient, retention_days, priority, due_at, expires_at)
  select i.account_id, i.id, ${recipientsUpTo('i.recipients')}, i.retention_days, case when i.flags & ${transactionalBit} <> 0 then 0 else 1 end, ${now},
    ${now} + i.lifetime * interval '1 second'
  from ${queueRows}
  where i.n not in (${refused}))`;
}

// Fails if the sweep may delete a content, which takes an accept that hung for half an hour.
function attachmentLinks(refused: string, repeated: boolean): string {
  return `attachment_row as (
  insert into message_attachment (account_id, message_id, retention_days, sha256)
  select a.account_id, a.message_id, a.retention_days, (
    select c.sha256 from attachment_content c
    where c.account_id = a.account_id and c.sha256 = a.sha256 and c.check_at > ${now} + interval '1 minute')
  from unnest($22::int4[], $23::text[], $24::uuid[], $25::smallint[], $26::bytea[])
    as a (n, account_id, message_id, retention_days, sha256)
  where a.n not in (${refused})${isStored('a.message_id', repeated)})`;
}

// No rows. A repeated row that is stored already writes nothing, and its response must wait like that of a new one.
const nothing = `union all
select 0, null from ${awaitReplication} as position where position is null`;

/** The rows of groups that have one of these. */
function withTheirGroups(refused: string): string {
  return `select o.n from unnest($27::int4[]) with ordinality as o (head, n)
  where o.head in (
    select f.head from unnest($27::int4[]) with ordinality as f (head, n) where f.n in (${refused}))`;
}

const blockedRows = 'select n from blocked';
const blockedOrTaken = 'select n from blocked union all select n from taken';
const refusedRows = 'select n from refused_row';

const blockedGroups = `blocked_row as materialized (
  ${withTheirGroups(blockedRows)})`;

const refusedGroups = `refused_row as materialized (
  ${withTheirGroups(blockedOrTaken)})`;

/**
 * `plain`: no row has a key, times, attachments or copies; `keyed`: some have a key; `full`: they can have everything. `repeated`: the
 * same, and rows may already be stored; those change nothing.
 */
export type AcceptForm = 'plain' | 'keyed' | 'full' | 'repeated';

const forms: Readonly<Record<AcceptForm, { readonly refused: string; readonly keys: string[] }>> = {
  plain: { refused: blockedRows, keys: [] },
  keyed: {
    refused: blockedOrTaken,
    keys: [optimisticTaken, `claimed as (${claims(blockedOrTaken)})`],
  },
  full: {
    refused: refusedRows,
    keys: [optimisticTaken, refusedGroups, `claimed as (${claims(refusedRows)})`],
  },
  repeated: { refused: refusedRows, keys: [blockedGroups, upsertClaims, refusedGroups] },
};

function acceptStatement(form: AcceptForm) {
  const { refused, keys: keyParts } = forms[form];
  const repeated = form === 'repeated';
  const isFull = repeated || form === 'full';
  const parts = [
    blocked,
    ...keyParts,
    messages(refused, repeated),
    ...(isFull
      ? [timedDeliveries(refused, repeated), attachmentLinks(refused, repeated)]
      : [deliveries(refused)]),
  ];
  const taken = form === 'plain' ? '' : '\nunion all\nselect n, null from taken';
  return {
    name: `accept-${form}`,
    text: `with ${parts.join(',\n')}
select n, address from blocked${taken}${repeated ? `\n${nothing}` : ''}`,
  };
}

/** Forms of the statement. Each connection prepares each of them once, by name. */
export const acceptStatements = {
  plain: acceptStatement('plain'),
  keyed: acceptStatement('keyed'),
  full: acceptStatement('full'),
  repeated: acceptStatement('repeated'),
};
