import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../src/foundation/database/open-database.ts';
import { uuid7 } from './draft-messages.ts';

type Kysely = Database['kysely'];

const relay = '127.0.0.1:2525';
const smtpTranscript = (replies: readonly string[], copied: boolean): readonly string[] => [
  '* connection reused',
  '> MAIL FROM:<orders@shop.test>',
  '> RCPT TO:<to>',
  ...(copied ? ['> RCPT TO:<cc 1>'] : []),
  '> DATA',
  '< 250 Accepted',
  ...replies,
];
const acceptedReply = '250 OK: message queued';
const deferredReply = '451 4.7.1 Greylisted, try again later';
const unknownUserReply = '550 5.1.1 No such user here';
const mailboxFullReply = '552 5.2.2 Mailbox full';
const noRecipientReply = '< 503 Error: need RCPT command';
const dot = '< 354 End data with <CR><LF>.<CR><LF>';
const expiredReason =
  'it could not be handed over within its freshness window, and is not wanted late';

const agents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.3.0',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15',
];

const attempted = (reason: string, rest: Readonly<Record<string, unknown>> = {}) =>
  sql.lit(JSON.stringify({ attempt: 1, reason, ...rest }));

/** After a deferral it is the second attempt. */
const attempts = (detail: RawBuilder<unknown>) =>
  sql`(case when d.deferred then replace(${detail}, '"attempt":1', '"attempt":2') else ${detail} end)::json`;

function delivered(copied: boolean) {
  const replies = copied
    ? ['< 250 Accepted', '< 250 Accepted', dot, `< ${acceptedReply}`]
    : ['< 250 Accepted', dot, `< ${acceptedReply}`];
  return attempted(acceptedReply, {
    reply: acceptedReply,
    stage: 'final',
    server: relay,
    transcript: smtpTranscript(replies, copied),
  });
}

function refused(reply: string, cause: string) {
  return attempted(`the server refused the recipient: ${reply}`, {
    reply,
    stage: 'rcpt',
    cause,
    server: relay,
    transcript: smtpTranscript([`< ${reply}`, noRecipientReply], false),
  });
}

const detail = sql`
  case e.kind
    when 'delivered' then case
      when e.recipient = 1 then ${attempted(acceptedReply, { reply: acceptedReply, stage: 'final', server: relay })}::json
      when d.cc_address is not null then ${attempts(delivered(true))}
      else ${attempts(delivered(false))} end
    when 'deferred' then ${attempted(`the server put the recipient off: ${deferredReply}`, {
      retryInSeconds: 74,
      reply: deferredReply,
      stage: 'rcpt',
      cause: 'greylist',
      server: relay,
      transcript: smtpTranscript([`< ${deferredReply}`, noRecipientReply], false),
    })}::json
    when 'bounced' then ${attempts(sql`case when n % 3 = 0 then ${refused(mailboxFullReply, 'mailbox-full')}
      else ${refused(unknownUserReply, 'no-mailbox')} end`)}
    when 'expired' then ${attempted(expiredReason)}::json
    when 'canceled' then ${attempted('canceled by hand')}::json
    when 'complained' then '{"by":"mail","feedbackType":"abuse"}'::json
    when 'unsubscribed' then json_build_object('how', 'one-click'::text)
    else concat('{', case when e.kind = 'clicked' then '"link":' || n % 2 || ',' end,
      '"class":', to_json(e.class),
      ',"reason":', to_json(case e.class when 'person' then 'nothing speaks against a person'
        when 'prefetch' then 'network of Apple Mail Privacy Protection' else 'followed several links at once' end),
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
      track_clicks, deliver_when_delayed, external_id, tag, client_id, accepted_at, state_at, content)
    select account_id, id, 90, template_id, 1, outcome, transactional, tracked, tracked, outcome <> 'expired', external_id,
      tag, ${clientId}::text, accepted_at, done_at,
      format('{"to":"%s",%s"from":{"address":"orders@shop.test","name":"Demo Shop"},"values":{"First Name":"Reader %s",'
        '"Order Number":"A-%s","Product":"Product %s of the catalogue","Price":"%s.99"}}', to_address,
        case when cc_address is null then '' else '"cc":["' || cc_address || '"],' end, n % 1000, n, n % 5000, n % 200)::json
    from draft order by n`.execute(transaction);
  await sql`
    insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient, detail)
    select d.account_id, d.id, 90, ${eventId}, e.at, e.kind, e.recipient, ${detail}
    from draft_event e join draft d using (n) order by e.at`.execute(transaction);
}
