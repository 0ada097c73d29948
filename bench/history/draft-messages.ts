import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../src/foundation/database/open-database.ts';
import type { StoredEventKind } from '../../src/message/event-kinds.ts';
import { accountPlaces, type HistoryPlan } from './history-plan.ts';

type Kysely = Database['kysely'];

/** A number from 0 to 1 that belongs to message `n`; another one for each `seed`. */
function chance(seed: number): RawBuilder<number> {
  return sql.raw(`((hashint8extended(n, ${seed}) & 1048575)::float8 / 1048576)`);
}

/** A UUID v7 (RFC 9562 section 5.7) of a time in milliseconds and 20 further hexadecimal digits. */
export function uuid7(timestampMs: RawBuilder<unknown>, digits: RawBuilder<unknown>) {
  const time = sql`lpad(to_hex(${timestampMs}), 12, '0')`;
  return sql`(left(${time}, 8) || '-' || substr(${time}, 9) || '-7' || left(${digits}, 3) || '-a' || substr(${digits}, 4, 3)
    || '-' || substr(${digits}, 7, 12))::uuid`;
}

/** Each template is sent with four tags or none. Readers come back: so many addresses for each hundred messages. */
const readersPerHundred = 20;
const domains = 300;
const tags = 12;

/**
 * Two temporary tables of the messages `first` up to `end`, not included, both dropped with the transaction: `draft` with a row for each message, `draft_event` with
 * what became of it. All is a function of the message's number.
 *
 * Of a hundred messages 95 are delivered, 4 of them after a delay; 2 bounce since the mailbox is gone, 1 since it is full,
 * some expire or are canceled; 3 have a copy. Half ask for tracking and are opened and clicked by people and machines.
 */
export async function draftMessages(
  transaction: Kysely,
  plan: HistoryPlan,
  first: number,
  end: number,
): Promise<void> {
  const places = accountPlaces(plan.accountIds);
  const readers = Math.max(1, Math.floor((plan.messages * readersPerHundred) / 100));
  const span = plan.until - plan.from;
  // offset 0: each step is computed once, not once for each use.
  await sql`
    create temporary table draft on commit drop as
    select n, ms, account_id, ${uuid7(sql`ms`, sql`digits`)} as id, (${plan.templateIds}::text[])[template] as template_id,
      case when r_tag < 0.8 then 'tag-' || (template * 7 + floor(r_tag * 4)::int) % ${tags} end as tag, external_id, transactional, tracked,
      outcome, deferred, to_local || '@' || to_domain as to_address, to_domain,
      case when copied then 'copy' || reader || '@team.test' end as cc_address, accepted_at,
      accepted_at + (case when outcome = 'expired' then 900000 when outcome = 'canceled' then 20000 else 0 end
        + case when deferred then 75000 else 0 end + 60 - 400 * ln(1 - r_took)) * interval '1 ms' as done_at,
      r_open, r_machine, r_click
    from (
      select *, to_timestamp(ms / 1000.0) + (2 + r_took) * interval '1 ms' as accepted_at,
        deferred_place and outcome in ('delivered', 'bounced') and not copy_place as deferred,
        copy_place and outcome = 'delivered' as copied,
        case when outcome = 'bounced' or r_leave < 0.002 then 'gone' || n else 'reader' || reader end as to_local,
        'mail' || floor(power(((hashint8extended(reader, 30) & 1048575)::float8 / 1048576), 3) * ${domains})::int || '.test' as to_domain
      from (
        select n, ${plan.from}::bigint + n * ${span}::bigint / ${plan.messages}::bigint as ms, md5(n::text) as digits,
          (${places}::text[])[1 + floor(${chance(1)} * 100)::int] as account_id,
          1 + floor(power(${chance(2)}, 2.5) * ${plan.templateIds.length})::int as template, ${chance(3)} as r_tag,
          case when ${chance(5)} < 0.9 then 'order-' || n end as external_id,
          ${chance(6)} < 0.7 as transactional, ${chance(7)} < 0.5 as tracked,
          case when ${chance(8)} < 0.955 then 'delivered' when ${chance(8)} < 0.985 then 'bounced'
            when ${chance(8)} < 0.995 then 'expired' else 'canceled' end as outcome,
          ${chance(9)} < 0.04 as deferred_place, ${chance(10)} < 0.03 as copy_place,
          ${chance(11)} as r_leave, ${chance(12)} as r_took, ${chance(13)} as r_open, ${chance(14)} as r_machine,
          ${chance(15)} as r_click, floor(${chance(16)} * 1048576 * 97)::bigint % ${readers}::bigint as reader
        from generate_series(${first}::bigint, ${end}::bigint - 1) as n offset 0) as chances offset 0) as named`.execute(
    transaction,
  );
  await sql`
    create temporary table draft_event on commit drop as
    ${sql.join(drafts, sql` union all `)}`.execute(transaction);
  await sql`analyze draft, draft_event`.execute(transaction);
}

interface DraftedEvent {
  readonly kind: StoredEventKind;
  readonly when: string;
  /** After acceptance for 'deferred', after the outcome for all that follows it. */
  readonly at: string;
  readonly recipient?: 0 | 1;
  /** Of opens and clicks. */
  readonly class?: 'person' | 'prefetch' | 'scanner';
  /** Of several like it. */
  readonly place?: number;
}

/** People open and click minutes to hours after delivery. Nothing happens after now. */
const opened = "outcome = 'delivered' and tracked";
const hours = (column: string) =>
  `done_at + (20 - 3600 * ln(1 - ${column} * 0.999)) * interval '1 s'`;

const drafts = (
  [
    { kind: 'deferred', when: 'deferred', at: "accepted_at + interval '100 ms'", recipient: 0 },
    { kind: 'delivered', when: "outcome = 'delivered'", at: 'done_at', recipient: 0 },
    { kind: 'delivered', when: 'cc_address is not null', at: 'done_at', recipient: 1 },
    { kind: 'bounced', when: "outcome = 'bounced'", at: 'done_at', recipient: 0 },
    { kind: 'expired', when: "outcome = 'expired'", at: 'done_at', recipient: 0 },
    { kind: 'canceled', when: "outcome = 'canceled'", at: 'done_at', recipient: 0 },
    {
      kind: 'complained',
      when: "outcome = 'delivered' and to_address like 'gone%' and n % 4 = 0",
      at: "done_at + interval '30 min'",
      recipient: 0,
    },
    {
      kind: 'unsubscribed',
      when: "outcome = 'delivered' and to_address like 'gone%' and n % 4 <> 0 and cc_address is null and not transactional",
      at: "done_at + interval '30 min'",
      recipient: 0,
    },
    { kind: 'opened', when: `${opened} and r_open < 0.4`, at: hours('r_click'), class: 'person' },
    {
      kind: 'opened',
      when: `${opened} and r_open < 0.1`,
      at: `${hours('r_click')} + interval '2 h'`,
      class: 'person',
      place: 1,
    },
    {
      kind: 'opened',
      when: `${opened} and r_machine < 0.3`,
      at: "done_at + interval '5 s'",
      class: 'prefetch',
    },
    {
      kind: 'clicked',
      when: `${opened} and r_open < 0.12`,
      at: `${hours('r_click')} + interval '15 s'`,
      class: 'person',
    },
    {
      kind: 'clicked',
      when: `${opened} and r_machine > 0.95`,
      at: "done_at + interval '3 s'",
      class: 'scanner',
    },
  ] satisfies DraftedEvent[]
).map((draft: DraftedEvent) => {
  const { kind, when, at, recipient = null, place = 0 } = draft;
  return sql`
    select n, ${sql.lit(kind)} as kind, (${sql.raw(at)}) as at, ${sql.lit(recipient)}::smallint as recipient,
      ${sql.lit(draft.class ?? null)}::text as class, ${sql.lit(place)} as place
    from draft where (${sql.raw(when)}) and (${sql.raw(at)}) < now()`;
});
