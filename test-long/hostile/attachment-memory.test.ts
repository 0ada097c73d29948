import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startSink } from '../../test/support/mail-sink.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { sendFile } from '../../test/support/send-file.ts';
import { serviceTokens } from '../../test/support/service-tokens.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const senders = Number(process.env.LARGE_SENDERS ?? 100);
const accounts = 5;
/** Resident MiB that the process may grow by: bodies (64), attachments being sent (160), and copies of what is in work. */
const maxGrowthMib = 600;

const { database, url: databaseUrl } = await createTestDatabase();
let taken = 0;
/** Counts mail without keeping it. */
const sink = await startSink({
  options: {
    async onData(stream, _session, callback) {
      for await (const _ of stream);
      taken += 1;
      callback();
    },
  },
});
const node = runSignalpost(['serve', '--processes', '1'], {
  DATABASE_URL: databaseUrl,
  PORT: '0',
  LOG_LEVEL: 'error',
  SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
  SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off`,
  ...serviceTokens,
});
const [, url = ''] = await node.printed(/running at (http:\/\/\S+)/);
const tokens = await Promise.all(
  Array.from({ length: accounts }, async (_, number) => {
    const shop = await openShop(database, { id: `4610${number}` });
    return { account: shop.id, token: await getToken({ url }, shop) };
  }),
);

/** Sends a message with a file of 7 to 9 MiB. @returns the status */
async function send(number: number): Promise<number> {
  const { account, token } = tokens[number % accounts] as (typeof tokens)[number];
  const { status } = await sendFile({
    url: `${url}/ete/v1/email/${account}/t-0001`,
    token,
    to: `reader${number}@example.test`,
    personalizationDataMap: { 'Order Number': 'A' },
    mebibytes: 7 + (number % 3),
  });
  return status;
}

/** Of the service: now, or its maximum. */
function residentMib(what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${node.child.pid}/status`, 'utf8');
  return Number(new RegExp(`^${what}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1_024;
}

test('a hundred senders of messages of 5 to 10 MiB at once don’t grow the process without bound', async (t) => {
  const before = residentMib('VmRSS');
  const startedAt = performance.now();
  let refused = 0;
  await Promise.all(
    Array.from({ length: senders }, async (_, number) => {
      for (;;) {
        const status = await send(number).catch(() => 503);
        if (status === 200) return;
        assert.equal(status, 503);
        refused += 1;
        await delay(1_000);
      }
    }),
  );
  const acceptedAfter = performance.now() - startedAt;
  await waitFor('all deliveries', () => taken === senders, 600_000);
  const peak = residentMib('VmHWM');
  const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;
  t.diagnostic(
    `${Math.round(before)} MiB before, at most ${Math.round(peak)}; accepted after ${seconds(acceptedAfter)}, ` +
      `sent after ${seconds(performance.now() - startedAt)}, ${refused} answers of 503`,
  );
  assert.ok(peak - before < maxGrowthMib, `${peak - before}`);
});
