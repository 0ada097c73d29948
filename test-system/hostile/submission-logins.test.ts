import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policies } from '../../src/base/fairness/policies.ts';
import { addKey } from '../../test/support/api-key.ts';
import { openShop } from '../../test/support/shop.ts';
import type { SmtpClient } from '../../test/support/smtp-client.ts';
import { openSubmissionShop, templateMail } from '../../test/support/submission-shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { total, reserve, share } = policies.submissionLogins;
const world = await openSubmissionShop();
const { database } = world.shop;

async function openAccount(id: string) {
  await openShop(database, { id: id as never });
  const key = await addKey(database, id as never, {
    scopes: ['messages:send', 'messages:send-content'],
  });
  const openSession = async (): Promise<SmtpClient> => {
    const client = await world.open();
    assert.match(await client.login(id, key), /^235 /);
    return client;
  };
  const login = async (count: number): Promise<SmtpClient[]> => {
    const clients: SmtpClient[] = [];
    while (clients.length < count) {
      const length = Math.min(50, count - clients.length);
      clients.push(...(await Promise.all(Array.from({ length }, openSession))));
    }
    return clients;
  };
  return login;
}

test('ASVS 4.0.3 11.1.4: an account alone can hold most SMTP sessions, and ends some when others log in', async () => {
  const held = await (await openAccount('46500'))(total - reserve);
  assert.ok(held.every(({ closed }) => !closed));
  for (let taken = 0; taken < reserve; taken += share)
    await (await openAccount(`4660${taken / share}`))(share);
  const [other] = await (await openAccount('46502'))(1);
  assert.match((await other?.submit(['other@people.test'], templateMail())) ?? '', /^250 /);
  await waitFor('one to make room', () => held.some(({ closed }) => closed));
  const [active] = held.filter(({ closed }) => !closed);
  assert.match((await active?.send('NOOP')) ?? '', /^250 /);
});
