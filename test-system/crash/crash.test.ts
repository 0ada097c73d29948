import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyDataFolder } from '../../test/support/copy-data-folder.ts';
import { getDemoToken } from '../../test/support/demo-token.ts';
import { readInbox } from '../../test/support/inbox-client.ts';
import { type Running, runSignalpost } from '../../test/support/run-signalpost.ts';
import { serviceTokens } from '../../test/support/service-tokens.ts';

const dataDir = copyDataFolder('started');
const environment = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error', ...serviceTokens };
const requests = 1_000;

async function start(): Promise<{ service: Running; url: string }> {
  const service = runSignalpost(['start'], environment);
  const [, url = ''] = await service.printed(/Service\s+(http:\/\/\S+)/);
  return { service, url };
}

/** Sends one receipt; resolves with its message id after a 200, otherwise with undefined. */
async function send(url: string, bearer: string, number: number): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/ete/v1/email/1000/receipt`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        envelope: { toAddress: `reader-${number}@example.test` },
        content: { personalizationDataMap: { 'Order Number': `A-${number}` } },
        actions: { trackOpens: false, trackClicks: false },
      }),
    });
    const body = (await response.json()) as { messageId: string };
    return response.status === 200 ? body.messageId : undefined;
  } catch {
    return undefined;
  }
}

/** The process id of the embedded database. */
function postmasterPid(): number {
  return Number(readFileSync(join(dataDir, 'database/postmaster.pid'), 'utf8').split('\n')[0]);
}

test('rule 1: after kill -9 of service and database, every message that got a 200 is delivered', async () => {
  const first = await start();
  const bearer = await getDemoToken(first.url, dataDir);
  const answered = new Map<number, string>();
  const enough = Promise.withResolvers<void>();
  const sending = Array.from({ length: requests }, async (_, number) => {
    const id = await send(first.url, bearer, number);
    if (id !== undefined) answered.set(number, id);
    if (answered.size >= requests / 4) enough.resolve();
  });
  await enough.promise;
  process.kill(postmasterPid(), 'SIGKILL');
  first.service.child.kill('SIGKILL');
  await Promise.all(sending);

  const second = await start();
  const left = [...answered];
  /** Checks messages one after another; several of these run concurrently. */
  const look = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const [number, id] = next;
      const mails = await readInbox(second.url, `?to=reader-${number}@example.test&wait=120`);
      const ids = mails.map((mail) => mail.headers['message-id']?.[0]);
      assert.ok(ids.includes(`<${id}@shop.test>`), `message ${id} did not arrive`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, look));
});
