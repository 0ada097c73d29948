import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../src/base/database/open-database.ts';
import type { AccountId, TemplateId } from '../../src/base/values/ids.ts';
import type { StoredEventKind } from '../../src/content/message/event-kinds.ts';

/** The same plan makes the same messages. */
export interface HistoryPlan {
  readonly messages: number;
  /** Milliseconds since the epoch, up to but not including `until`. */
  readonly from: number;
  readonly until: number;
  /** The first has two fifths of the messages, each other one fewer than the one before. */
  readonly accountIds: readonly AccountId[];
  /** Of every account; the first are used most. */
  readonly templateIds: readonly TemplateId[];
  readonly clientId: string;
}

type Kysely = Database['kysely'];

/** From 0 to 1, the same for each message `n` and seed. */
function chance(seed: number): RawBuilder<number> {
  return sql.raw(`((hashint8extended(n, ${seed}) & 1048575)::float8 / 1048576)`);
}

/** A UUID v7 (RFC 9562 section 5.7). @param digits 18 hexadecimal ones at least */
function uuid7(timestampMs: RawBuilder<unknown>, digits: RawBuilder<unknown>) {
  const time = sql`lpad(to_hex(${timestampMs}), 12, '0')`;
  return sql`(left(${time}, 8) || '-' || substr(${time}, 9) || '-7' || left(${digits}, 3) || '-a' || substr(${digits}, 4, 3)
    || '-' || substr(${digits}, 7, 12))::uuid`;
}

const messagesPerReader = 5;
const domains = 300;
const tags = 12;
/** Enough that each template of each account has some. */
const messagesWithNewCalls = 10_000;

/**
 * Creates the temporary tables `draft`, a row for each message from `first` to before `end`, and `draft_event`. The same
 * number always makes the same message.
 *
 * Of a hundred messages 95 are delivered, 4 of them after a delay; 2 bounce because the mailbox is gone, 1 because it is
 * full, some expire or are canceled; 3 have a copy. Half are tracked, and opened and clicked by people and machines.
 */
export async function draftMessages(
  transaction: Kysely,
  plan: HistoryPlan,
  first: number,
  end: number,
): Promise<void> {
  const places = accountPlaces(plan.accountIds);
  const readers = Math.max(1, Math.floor(plan.messages / messagesPerReader));
  const span = plan.until - plan.from;
  // offset 0 keeps the planner from computing a step once for each use.
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

/** A hundred IDs, each as often as its account's share in percent. */
function accountPlaces(accountIds: readonly AccountId[]): AccountId[] {
  const weights = accountIds.map((_, index) => 1 / (index + 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  return accountIds.flatMap((id, index) => {
    const start = Math.round((sum / total) * 100);
    sum += weights[index] ?? 0;
    return Array.from({ length: Math.round((sum / total) * 100) - start }, () => id);
  });
}

type DraftedEvent = readonly [
  kind: StoredEventKind,
  recipient: 0 | 1 | null,
  when: string,
  at: string,
  readBy?: 'person' | 'prefetch' | 'scanner',
  /** Distinguishes several of one kind. */
  place?: number,
];

const wasDelivered = "outcome = 'delivered'";
const opened = `${wasDelivered} and tracked`;
const gone = `${wasDelivered} and to_address like 'gone%'`;
/** Minutes to hours after delivery. */
const readAt = "done_at + (20 - 3600 * ln(1 - r_click * 0.999)) * interval '1 s'";
const toldAt = "done_at + interval '30 min'";

const draftedEvents: readonly DraftedEvent[] = [
  ['deferred', 0, 'deferred', "accepted_at + interval '100 ms'"],
  ['delivered', 0, wasDelivered, 'done_at'],
  ['delivered', 1, 'cc_address is not null', 'done_at'],
  ['bounced', 0, "outcome = 'bounced'", 'done_at'],
  ['expired', 0, "outcome = 'expired'", 'done_at'],
  ['canceled', 0, "outcome = 'canceled'", 'done_at'],
  ['complained', 0, `${gone} and n % 4 = 0`, toldAt],
  ['unsubscribed', 0, `${gone} and n % 4 > 0 and cc_address is null and not transactional`, toldAt],
  ['opened', null, `${opened} and r_open < 0.4`, readAt, 'person'],
  ['opened', null, `${opened} and r_open < 0.1`, `${readAt} + interval '2 h'`, 'person', 1],
  ['opened', null, `${opened} and r_machine < 0.3`, "done_at + interval '5 s'", 'prefetch'],
  ['clicked', null, `${opened} and r_open < 0.12`, `${readAt} + interval '15 s'`, 'person'],
  ['clicked', null, `${opened} and r_machine > 0.95`, "done_at + interval '3 s'", 'scanner'],
];

const drafts = draftedEvents.map(
  ([kind, recipient, when, at, readBy = null, place = 0]) => sql`
    select n, ${sql.lit(kind)} as kind, (${sql.raw(at)}) as at, ${sql.lit(recipient)}::smallint as recipient,
      ${sql.lit(readBy)}::text as class, ${sql.lit(place)} as place
    from draft where (${sql.raw(when)}) and (${sql.raw(at)}) < now()`,
);

const agents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.3.0',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15',
];
const server = '127.0.0.1:2525';
const accepted = '250 OK: message queued';
const expired = 'it could not be delivered within its freshness window';

const attempted = (reason: string, rest: Readonly<Record<string, unknown>> = {}) =>
  sql.lit(JSON.stringify({ attempt: 1, reason, ...rest }));

/** After a deferral it is the second attempt. */
const attempts = (detail: RawBuilder<unknown>) =>
  sql`(case when d.deferred then replace(${detail}, '"attempt":1', '"attempt":2') else ${detail} end)::json`;

const smtpTranscript = (replies: readonly string[], to = '<to>') => [
  '* connection reused',
  '> MAIL FROM:<orders@shop.test>',
  `> RCPT TO:${to}`,
  '> DATA',
  '< 250 Accepted',
  ...replies,
];

function delivered(to: '<to>' | '<cc 1>') {
  const replies = ['< 250 Accepted', '< 354 End data with <CR><LF>.<CR><LF>', `< ${accepted}`];
  const transcript = smtpTranscript(replies, to);
  return attempted(accepted, { reply: accepted, stage: 'final', server, transcript });
}

function rejected(what: string, reply: string, cause: string, rest = {}) {
  const transcript = smtpTranscript([`< ${reply}`, '< 503 Error: need RCPT command']);
  const reason = `the server ${what}: ${reply}`;
  return attempted(reason, { ...rest, reply, stage: 'rcpt', cause, server, transcript });
}

const mailboxFull = ['552 5.2.2 Mailbox full', 'mailbox-full'] as const;
const unknownUser = ['550 5.1.1 No such user here', 'no-mailbox'] as const;
const greylisted = ['451 4.7.1 Greylisted, try again later', 'greylist'] as const;
const detail = sql`
  case e.kind
    when 'delivered' then case
      when e.recipient = 1 then ${delivered('<cc 1>')}::json
      else ${attempts(delivered('<to>'))} end
    when 'deferred' then ${rejected('temporarily rejected the recipient', ...greylisted, { retryInSeconds: 74 })}::json
    when 'bounced' then ${attempts(sql`case when n % 3 = 0 then ${rejected('rejected the recipient', ...mailboxFull)}
      else ${rejected('rejected the recipient', ...unknownUser)} end`)}
    when 'expired' then ${attempted(expired)}::json
    when 'canceled' then ${attempted('canceled manually')}::json
    when 'complained' then '{"by":"mail","feedbackType":"abuse"}'::json
    when 'unsubscribed' then json_build_object('how', 'one-click'::text)
    else concat('{', case when e.kind = 'clicked' then '"link":' || n % 2 || ',' end,
      '"class":', to_json(e.class),
      ',"reason":', to_json(case e.class when 'person' then 'no sign of a scanner or prefetch'
        when 'prefetch' then 'network: Apple Mail Privacy Protection' else 'followed several links at once' end),
      ',"network":"198.18.', n % 250,
      '.0/24","userAgent":', to_json((${agents}::text[])[1 + n % ${agents.length}]), '}')::json
  end`;

const eventDigits = sql`md5(concat_ws(' ', n, e.kind, e.recipient, e.class, e.place))`;
/** Feedback from outside has a UUID v8 (RFC 9562 section 5.8), derived from the report. */
const eventId = sql`
  case when e.kind = 'complained'
    then overlay(overlay(${eventDigits}::uuid::text placing '8' from 15) placing 'a' from 20)::uuid
    else ${uuid7(sql`(extract(epoch from e.at) * 1000)::bigint`, eventDigits)} end`;

/** Inserts the rows that accepting and delivering leave, at past times, which the product's own writers can't. */
export async function writeDrafts(transaction: Kysely, clientId: string): Promise<void> {
  await sql`
    insert into message (account_id, id, retention_days, template_id, template_version, state, transactional, track_opens,
      track_clicks, deliver_when_delayed, external_id, tag, client_id, accepted_at, state_at, new_call, content)
    select account_id, id, 90, template_id, 1, outcome, transactional, tracked, tracked, outcome <> 'expired', external_id,
      -- As accepting marks them: all calls have the same fields, so only the first ones are new.
      tag, ${clientId}::text, accepted_at, done_at, n < ${messagesWithNewCalls},
      format('{"to":"%s",%s"from":{"address":"orders@shop.test","name":"Demo Shop"},"values":{"First Name":"Reader %s",'
        '"Order Number":"A-%s","Product":"Product %s of the catalogue","Price":"%s.99"}}', to_address,
        case when cc_address is null then '' else '"cc":["' || cc_address || '"],' end, n % 1000, n, n % 5000, n % 200)::json
    from draft order by n`.execute(transaction);
  await sql`
    insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient, detail)
    select d.account_id, d.id, 90, ${eventId}, e.at, e.kind, e.recipient, ${detail}
    from draft_event e join draft d using (n) order by e.at`.execute(transaction);
}
