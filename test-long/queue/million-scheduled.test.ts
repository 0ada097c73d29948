import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { newMessageId } from '../../src/base/values/ids.ts';
import { startSink } from '../../test/support/mail-sink.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { serviceTokens } from '../../test/support/service-tokens.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const messages = Number(process.env.SCHEDULED_MESSAGES ?? 100_000);
/** Messages a year ahead, which are filled first to know how long the others take. */
const pilots = 5_000;
const maxStartSeconds = 10;
const maxOtherP99Seconds = 5;

const { database, url: databaseUrl } = await createTestDatabase();
/** How often each scheduled message arrived. */
const arrivals = new Uint8Array(messages);
let arrived = 0;
let firstAt = 0;
/** When each immediate message arrived. */
const immediate = new Map<string, number>();
const sink = await startSink({
  options: {
    async onData(stream, session, callback) {
      for await (const _ of stream);
      const address = session.envelope.rcptTo[0]?.address ?? '';
      const [, number] = /^scheduled(\d+)@/.exec(address) ?? [];
      if (number === undefined) immediate.set(address, performance.now());
      else {
        if (arrived === 0) firstAt = Date.now();
        arrived += 1;
        arrivals[Number(number)] = (arrivals[Number(number)] ?? 0) + 1;
      }
      callback();
    },
  },
});
const node = runSignalpost(['serve'], {
  DATABASE_URL: databaseUrl,
  PORT: '0',
  LOG_LEVEL: 'error',
  SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
  SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off&connections=20`,
  ...serviceTokens,
});
const [, url = ''] = await node.printed(/running at (http:\/\/\S+)/);
const shop = await openShop(database);
const other = await openShop(database, { id: '46200' });
const client = new SendClient({ url }, await getToken({ url }, shop));
const otherClient = new SendClient({ url }, await getToken({ url }, other));

const bodyTo = (toAddress: string, actions: object = {}) =>
  bodyWith({
    envelope: { toAddress },
    actions: { trackOpens: false, trackClicks: false, ...actions },
  });

/** Schedules one message over HTTP, and copies its rows. @returns milliseconds that it took */
async function fill(sendAt: Date, total: number): Promise<number> {
  const startedAt = performance.now();
  const response = await client.send({
    body: bodyTo('scheduled0@people.test', { sendAt: sendAt.toISOString() }),
  });
  assert.equal(response.status, 200, response.text);
  const batchSize = 10_000;
  for (let done = 1; done < total; done += batchSize) {
    const ids = Array.from({ length: Math.min(batchSize, total - done) }, newMessageId);
    await database.pool.query(
      `with copy as (select id, $3::int + place - 1 as number from unnest($2::uuid[]) with ordinality as x (id, place)),
       m as (
         insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens,
           track_clicks, deliver_when_delayed, client_id, accepted_at, state_at, content)
         select account_id, copy.id, retention_days, template_id, template_version, transactional, track_opens,
           track_clicks, deliver_when_delayed, client_id, accepted_at, state_at,
           (content::jsonb || jsonb_build_object('to', 'scheduled' || number || '@people.test'))::json
         from message, copy where account_id = '46100' and message.id = $1),
       s as (
         insert into scheduled_message (account_id, message_id, retention_days, send_at, lifetime_seconds, keep_until)
         select account_id, copy.id, retention_days, send_at, lifetime_seconds, keep_until
         from scheduled_message, copy where account_id = '46100' and message_id = $1)
       insert into queued_delivery (account_id, message_id, retention_days, priority, due_at, expires_at, recipient, reason)
       select account_id, copy.id, retention_days, priority, due_at, expires_at, recipient, reason
       from queued_delivery, copy where account_id = '46100' and message_id = $1`,
      [response.body.messageId, ids, done],
    );
  }
  return performance.now() - startedAt;
}

let refused = 0;

/** Sends from the other account; a 503 is repeated, as its caller would. */
async function sendOne(address: string): Promise<void> {
  for (;;) {
    const { status, text } = await otherClient.send({ account: other.id, body: bodyTo(address) });
    if (status === 200) return;
    assert.equal(status, 503, text);
    refused += 1;
    await delay(1_000);
  }
}

/** Sends from the other account until all scheduled messages have arrived. @returns milliseconds to arrival, in order */
async function sendMeanwhile(): Promise<number[]> {
  const times: Promise<number>[] = [];
  for (let number = 0; arrived < messages; number += 1) {
    const address = `now${number}@people.test`;
    const startedAt = performance.now();
    const arriving = sendOne(address)
      .then(() => waitFor(`the mail to ${address}`, () => immediate.get(address), 120_000))
      .then((at) => at - startedAt);
    times.push(arriving);
    await delay(250);
  }
  return (await Promise.all(times)).sort((a, b) => a - b);
}

test(`${messages} messages scheduled for one moment start at once, arrive once, and hold up no other account`, async (t) => {
  const pilotMs = await fill(new Date(Date.now() + 360 * 86_400_000), pilots);
  const sendAt = new Date(Date.now() + 15_000 + (messages / pilots) * pilotMs * 2);
  await fill(sendAt, messages);
  const left = sendAt.getTime() - Date.now();
  assert.ok(left > 0, `filled ${-left} ms too late`);
  assert.equal(arrived, 0);
  await delay(left);
  const times = await sendMeanwhile();
  const seconds = (Date.now() - sendAt.getTime()) / 1_000;
  const startSeconds = (firstAt - sendAt.getTime()) / 1_000;
  const percentile = (share: number) =>
    (times[Math.floor((times.length - 1) * share)] ?? Number.POSITIVE_INFINITY) / 1_000;
  t.diagnostic(
    `first after ${startSeconds.toFixed(2)} s, all after ${seconds.toFixed(1)} s (${Math.round(messages / seconds)}/s); ` +
      `${times.length} immediate messages of another account: p50 ${percentile(0.5).toFixed(2)} s, ` +
      `p99 ${percentile(0.99).toFixed(2)} s, max ${percentile(1).toFixed(2)} s, ${refused} answers of 503`,
  );
  assert.ok(
    arrivals.every((count) => count === 1),
    'each arrived once',
  );
  assert.ok(startSeconds >= 0 && startSeconds < maxStartSeconds, `${startSeconds}`);
  assert.ok(percentile(0.99) < maxOtherP99Seconds, `${percentile(0.99)}`);
});
