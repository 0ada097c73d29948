import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import type { TextResponse } from '../../support/send-request.ts';
import { getToken, openShop } from '../../support/shop.ts';
import { openGate } from '../../support/tcp-gate.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, url } = await createTestDatabase();
const shop = await openShop(database);
const gates = [await openGate(url), await openGate(url)] as const;
const services = await Promise.all(
  gates.map((gate) => startTestService({ databaseUrl: gate.url, worker: false })),
);
const [service] = services;
const token = service === undefined ? '' : await getToken(service, shop);
const clients = services.map((node) => new SendClient(node, token));

/** One step: a request with one of a few keys, or a failure. */
type Step =
  | { readonly kind: 'send'; readonly node: number; readonly key: number; readonly variant: number }
  | { readonly kind: 'cut' | 'close' | 'open'; readonly node: number }
  | { readonly kind: 'crash' }
  | { readonly kind: 'settle' };

const node = fc.nat({ max: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      node,
      key: fc.nat({ max: 3 }),
      variant: fc.nat({ max: 1 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('cut' as const, 'close' as const), node }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('open' as const), node }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'settle' as const }) },
);

let run = 0;

function send(index: number, key: string, variant: number): Promise<TextResponse> {
  const client = clients[index];
  assert.ok(client !== undefined);
  return client.send({
    headers: { 'idempotency-key': key },
    body: bodyWith({ metadata: { externalId: key, tagList: [`v${variant}`] } }),
  });
}

async function crash(): Promise<void> {
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'signalpost accept'`,
  );
}

async function perform(steps: readonly Step[], prefix: string): Promise<TextResponse[]> {
  const responses: Promise<TextResponse>[] = [];
  for (const next of steps) {
    if (next.kind === 'send')
      responses.push(send(next.node, `${prefix}-${next.key}`, next.variant));
    else if (next.kind === 'crash') await crash();
    else if (next.kind === 'settle') await new Promise((resolve) => setTimeout(resolve, 15));
    else if (next.kind === 'cut') gates[next.node === 0 ? 0 : 1].cutAnswers('signalpost accept');
    else gates[next.node === 0 ? 0 : 1][next.kind]();
  }
  for (const gate of gates) gate.open();
  return Promise.all(responses);
}

async function messagesOf(key: string): Promise<{ id: string; tag: string }[]> {
  const { rows } = await database.pool.query<{ id: string; tag: string }>(
    `select m.id, m.tag from message m join queued_delivery q on q.account_id = m.account_id and q.message_id = m.id
     where m.account_id = '46100' and m.external_id = $1`,
    [key],
  );
  return rows;
}

test('any order of requests and crashes gives exactly one message per key', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      run += 1;
      const prefix = `run-${run}`;
      const responses = await perform(steps, prefix);
      for (const response of responses) {
        assert.ok([200, 409, 422, 503].includes(response.status), response.text);
      }
      const keys = new Set(
        steps.flatMap((next) => (next.kind === 'send' ? [`${prefix}-${next.key}`] : [])),
      );
      const accepted = new Set(
        responses
          .filter((response) => response.status === 200)
          .map((response) => response.body.messageId),
      );
      for (const key of keys) {
        // The caller repeats requests without a response; afterwards one message exists, with one of the two bodies.
        const last = await waitFor(`a response for ${key}`, async () => {
          const response = await send(run % 2, key, 0);
          return response.status === 200 || response.status === 422 ? response : undefined;
        });
        const [message, ...more] = await messagesOf(key);
        assert.ok(message !== undefined);
        assert.deepEqual(more, []);
        assert.equal(message.tag, last.status === 200 ? 'v0' : 'v1');
        accepted.delete(message.id);
      }
      assert.deepEqual([...accepted], [], 'every 200 named a message that is stored');
    }),
  );
});
