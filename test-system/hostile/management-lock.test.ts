import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { Database } from '../../src/base/database/open-database.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { lockAccount, lockInstallation } from '../../src/operating/change/change-lock-store.ts';
import { openManagedShop } from '../../test/support/management-client.ts';
import { SendClient } from '../../test/support/send-client.ts';
import type { TextResponse } from '../../test/support/send-request.ts';
import { SessionWorld } from '../../test/support/session-world.ts';
import { getToken } from '../../test/support/shop.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { database, url } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url });
const a = await openManagedShop(database, service, '46100');
const b = await openManagedShop(database, service, '46200');
const world = new SessionWorld(database, '46100');
const client = new SendClient(service, await getToken(service, a.shop));

/** A template that takes seconds to compile, well within the size limits. */
const slow = {
  subject: 'Subject',
  html: `<style>${Array.from({ length: 500 }, (_, at) => `.a${at} p b{color:red}`).join('')}</style>${'<p class="a">x</p>'.repeat(700)}`,
};

/** Runs `use` while another transaction, like one of another node, holds a lock. */
async function whileHeld(
  take: (transaction: Database['kysely']) => Promise<unknown>,
  use: () => Promise<void>,
): Promise<void> {
  await database.kysely.transaction().execute(async (transaction) => {
    await take(transaction);
    await use();
  });
}

let shops = 0;

/** Requests that must work for a well-behaved account. */
async function requireService(): Promise<void> {
  // Each has a separate allowance.
  const person = await world.addPerson();
  shops += 1;
  const [sent, token, ready, read, changed] = await Promise.all([
    client.send(),
    getToken(service, { owner: person, integration: a.shop.integration }),
    fetch(`${service.url}/readyz`),
    a.owner.get(a.path),
    a.owner.put(a.path, { name: `Shop ${shops}` }),
  ]);
  assert.equal(sent.status, 200, sent.text);
  assert.notEqual(token, '');
  assert.equal(ready.status, 200);
  assert.equal(read.status, 200, read.text);
  assert.equal(changed.status, 200, changed.text);
}

/** Rejected for load: 429 before processing starts, 503 while waiting for a resource. */
function requireBusy(responses: readonly TextResponse[]): void {
  for (const response of responses) {
    assert.ok(response.status === 429 || response.status === 503, response.text);
    assert.ok(Number(response.headers.get('retry-after')) >= 1, 'Retry-After');
  }
}

/** The responses that arrive first. The others arrive once the lock is released. */
async function firstOf(
  requests: readonly Promise<TextResponse>[],
  count: number,
): Promise<readonly TextResponse[]> {
  const responses: TextResponse[] = [];
  for (const request of requests) void request.then((response) => responses.push(response));
  await waitFor(`${count} responses`, () => responses.length >= count);
  return responses.slice();
}

test('ASVS 4.0.3 11.1.4: slow publishing in one account doesn’t delay another', async () => {
  const templates = Array.from({ length: 14 }, (_, at) => `${b.path}/templates/t-slow-${at}`);
  for (const [at, template] of templates.entries()) {
    await b.owner.put(template, { name: 'Slow' });
    await b.owner.put(`${template}/draft`, { ...slow, subject: `Subject ${at}` });
  }
  let underWay = templates.length;
  const publications = templates.map(async (template) => {
    const response = await b.owner.post(`${template}/publish`, {});
    underWay -= 1;
    return response;
  });
  let looks = 0;
  while (underWay > 0 && looks < 5) {
    await requireService();
    looks += 1;
  }
  assert.ok(looks > 1, 'it was looked at while templates were compiled');
  const responses = await Promise.all(publications);
  const done = responses.filter(({ status }) => status === 200);
  assert.ok(done.length > 0, 'the first are published');
  requireBusy(responses.filter(({ status }) => status !== 200));
});

test('ASVS 4.0.3 11.1.6: the published version is the compiled draft', async () => {
  const template = `${b.path}/templates/t-race`;
  await b.owner.put(template, { name: 'Race' });
  await b.owner.put(`${template}/draft`, { ...slow, subject: 'Seen' });
  const tag = (await b.owner.get(`${template}/draft`)).headers.get('etag') ?? '';
  const publishing = b.owner.post(`${template}/publish`, {}, { 'if-match': tag });
  const changed = await b.owner.put(`${template}/draft`, { subject: 'Changed', text: 'Hello' });
  assert.equal(changed.status, 200, changed.text);
  assert.equal((await publishing).status, 412, 'an unseen draft is not published');
  assert.equal((await b.owner.post(`${template}/publish`, {})).status, 200);
  assert.equal((await b.owner.get(template)).body.subject, 'Changed');
});

test('ASVS 4.0.3 11.1.4: changes queue per account and don’t delay other accounts', async () => {
  await whileHeld(
    (transaction) => lockAccount(transaction, b.shop.id as AccountId),
    async () => {
      const changes = Array.from({ length: 40 }, (_, at) =>
        b.owner.put(`${b.path}/lists/l-${at}`, { name: `List ${at}` }),
      );
      await requireService();
      requireBusy(await firstOf(changes, 20));
      await requireService();
    },
  );
  const after = await b.owner.put(`${b.path}/lists/l-new`, { name: 'List' });
  assert.equal(after.status, 201, after.text);
});

test('ASVS 4.0.3 11.1.4: while a manifest is applied, changes are rejected after a timeout and everything else works', async () => {
  await whileHeld(lockInstallation, async () => {
    const change = a.owner.put(a.path, { name: 'Waits' });
    const sent = await client.send();
    assert.equal(sent.status, 200, sent.text);
    assert.equal((await a.owner.get(a.path)).status, 200);
    assert.equal((await fetch(`${service.url}/readyz`)).status, 200);
    const owner = await world.addPerson();
    await getToken(service, { owner, integration: a.shop.integration });
    requireBusy([await change]);
  });
});

test('ASVS 4.0.3 11.1.4: hanging database requests of one account leave connections to others', async () => {
  await whileHeld(
    (transaction) => sql`lock table webhook_endpoint`.execute(transaction),
    async () => {
      const reads = Array.from({ length: 60 }, () => b.owner.get(`${b.path}/webhooks`));
      await requireService();
      requireBusy(await firstOf(reads, 30));
    },
  );
  assert.equal((await b.owner.get(`${b.path}/webhooks`)).status, 200);
});

test('two accounts creating the same person or integration concurrently both get a response', async () => {
  for (let round = 0; round < 5; round += 1) {
    const user = { role: 'viewer', name: 'Ann' };
    const people = await Promise.all(
      [a, b].map((shop) => shop.owner.put(`${shop.path}/users/ann-${round}@shop.test`, user)),
    );
    for (const { status, text } of people) assert.equal(status, 201, text);
    const integrations = await Promise.all(
      [a, b].map((shop) =>
        shop.owner.put(`${shop.path}/integrations/client-${round}`, { name: 'Client' }),
      ),
    );
    const statuses = integrations.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, 422], JSON.stringify(integrations.map(({ text }) => text)));
  }
});
