import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendRequest } from '../../test/support/send-request.ts';
import { passwordFields, postToken, SessionWorld } from '../../test/support/session-world.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';

const { url, database } = await createTestDatabase();
const environment = { TRUST_PROXY: '127.0.0.1' };
const service = await startTestService({ databaseUrl: url, environment });
const world = new SessionWorld(database);
await world.addAccount();
const [person, client] = [await world.addPerson(), await world.addIntegration()];

/** Durations in milliseconds of many sequential requests with a token. */
async function timesOfRequests(token: string, count: number): Promise<number[]> {
  const times: number[] = [];
  const headers = { authorization: `Bearer ${token}` };
  for (let sent = 0; sent < count; sent += 1) {
    const before = performance.now();
    assert.equal((await sendRequest(`${service.url}/api/1/list`, { headers })).status, 200);
    times.push(performance.now() - before);
  }
  return times.sort((a, b) => a - b);
}

test('a login flood from many networks does not block token checks', async (context) => {
  const { body } = await postToken(service, passwordFields(person, client));
  const token = String(body.access_token);
  await timesOfRequests(token, 50);
  const calm = await timesOfRequests(token, 100);

  const floods = new Set<Promise<unknown>>();
  let guesses = 0;
  let flooding = true;
  const flood = async (): Promise<void> => {
    while (flooding) {
      guesses += 1;
      const from = {
        'x-forwarded-for': `10.${guesses >> 16}.${(guesses >> 8) & 255}.${guesses & 255}`,
      };
      const email = `guess${guesses}@shop.test`;
      await postToken(service, passwordFields({ email }, client), from);
    }
  };
  for (let count = 0; count < 40; count += 1) floods.add(flood());
  const busy = await timesOfRequests(token, 100);
  flooding = false;
  await Promise.all(floods);

  const at = (times: number[], share: number) => times[Math.floor(times.length * share)] ?? 0;
  context.diagnostic(
    `${guesses} log-ins; a request with a token took ${at(calm, 0.5).toFixed(1)} ms calm, ` +
      `${at(busy, 0.5).toFixed(1)} ms (p99 ${at(busy, 0.99).toFixed(1)} ms) in the flood`,
  );
  assert.ok(guesses > 40);
  assert.ok(at(busy, 0.99) < 1_000, 'tokens are checked within a second at all times');
});
