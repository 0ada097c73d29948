import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { saveMembership } from '../../../src/accounts/account/membership-store.ts';
import { setOperator } from '../../../src/accounts/account/person-store.ts';
import { canProgramsSend } from '../../../src/operating/management/report/attention-store.ts';
import { addPasskey } from '../../support/add-passkey.ts';
import { DirectShop } from '../../support/direct-shop.ts';
import { signInToManagement } from '../../support/management-client.ts';
import { waitFor } from '../../support/wait-for.ts';

const receiver = createServer((_request, response) => response.writeHead(500).end());
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
after(() => receiver.close());
const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;

const direct = await DirectShop.open(
  '127.0.0.88=mail.sender.test',
  {
    address: '127.0.0.87',
    port: 0,
    onData: () => '421 4.7.28 Our system has detected an unusual rate, try again in 300 seconds',
  },
  { WEBHOOK_NETWORKS: '127.0.0.0/8' },
);
direct.zones
  .set('gmail.test', { MX: [[5, 'gmail-smtp-in.l.google.com']] })
  .set('gmail-smtp-in.l.google.com', { A: ['127.0.0.87'] });
const { shop, database } = direct;
await saveMembership(database.kysely, {
  accountId: shop.id,
  personId: shop.owner.id,
  role: 'owner',
});
const owner = await signInToManagement(direct.service, direct.shop.owner.email);
const account = `/accounts/${shop.id}`;

interface Item {
  readonly kind: string;
  readonly severity: string;
  readonly subject: string | null;
  readonly webhookId: string | null;
  readonly sentence: string;
  readonly nextStep: string;
}

/** Waits for the first concern of a kind. */
function concern(kind: string): Promise<Item> {
  return waitFor(`${kind} to need attention`, async () => {
    const { body } = await owner.get(`${account}/attention`);
    return (body.items as Item[]).find((item) => item.kind === kind);
  });
}

async function isCalm(kind: string): Promise<boolean> {
  const { body } = await owner.get(`${account}/attention`);
  return (body.items as Item[]).every((item) => item.kind !== kind);
}

test('a throttled receiver needs attention while mail is queued for it', async () => {
  const first = await direct.send('ann@gmail.test');
  await waitFor('the refusal', async () => /421 4\.7\.28/.test(await direct.reasonOf(first)));
  assert.ok(await isCalm('destination-throttled'), 'nothing waits for its pace yet');
  await direct.send('bob@gmail.test');
  const { severity, subject, sentence, nextStep } = await concern('destination-throttled');
  assert.equal(severity, 'warning');
  assert.equal(subject, 'Gmail');
  assert.match(
    sentence,
    /^Gmail is throttling your mail\. 1 queued message is being sent at [\d.]+\/(?:min|s)\.$/,
  );
  assert.match(nextStep, /^Sending speeds up automatically as the receiving server allows\./);
  await owner.post(`${account}/queue/cancel`, {});
  await waitFor('calm', () => isCalm('destination-throttled'));
});

test('a broken domain needs attention until its records are back', async () => {
  const domain = `${account}/domains/shop.test`;
  const { body } = await owner.get(domain);
  const [dkim] = (body.records as { kind: string; name: string; expected: string }[]).filter(
    ({ kind }) => kind === 'dkim',
  );
  assert.ok(dkim);
  direct.zones.delete(dkim.name);
  // A single check may have failed by coincidence.
  for (let look = 0; look < 2; look += 1) await owner.post(`${domain}/check`);
  const { severity, subject, nextStep } = await concern('domain-broken');
  assert.equal(severity, 'error');
  assert.equal(subject, 'shop.test');
  assert.match(nextStep, /[Cc]ompare/);
  direct.zones.set(dkim.name, { TXT: [dkim.expected] });
  await owner.post(`${domain}/check`);
  assert.ok(await isCalm('domain-broken'));
});

test('a failing webhook needs attention', async () => {
  const made = await owner.post(`${account}/webhooks`, { url: hook, kinds: ['delivered'] });
  assert.equal(made.status, 201, made.text);
  await direct.send('delivered@simulator.test');
  const { severity, subject, webhookId, nextStep } = await concern('webhook-failing');
  assert.equal(severity, 'error');
  assert.equal(subject, hook);
  assert.equal(webhookId, made.body.id);
  assert.match(nextStep, /log/);
});

test('a bounce rate above 5% needs attention, once there are enough messages', async () => {
  for (let n = 0; n < 5; n += 1) await direct.send(`bounce+${n}@simulator.test`);
  await waitFor('the bounces to be counted', async () => {
    const from = new Date(Date.now() - 86_400_000).toISOString();
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const query = `group=none&from=${from}&until=${until}`;
    const { body } = await owner.get(`${account}/reports?${query}`);
    const [row] = body.rows as { counts: { bounced_hard: number } }[];
    return row?.counts.bounced_hard === 5;
  });
  assert.ok(await isCalm('bounces-rising'));
  for (let n = 0; n < 55; n += 1) await direct.send(`delivered+${n}@simulator.test`);
  const { severity, sentence, nextStep } = await concern('bounces-rising');
  assert.equal(severity, 'warning');
  assert.match(sentence, /^[\d.]+% of messages hard-bounced in the last 30 days\.$/);
  assert.match(nextStep, /addresses/);
});

test('nobody gets a token by password if all users with one have a passkey', async () => {
  await database.pool.query(`delete from api_key where account_id = $1`, [shop.id]);
  const { rows } = await database.pool.query(
    `update integration n set grants = '{password}' from integration o
     where n.account_id = $1 and o.client_id = n.client_id returning o.client_id, o.grants`,
    [shop.id],
  );
  assert.equal(await canProgramsSend(database.kysely, shop.id), true);
  await database.pool.query(
    `insert into passkey (id, person_id, credential_id, public_key, sign_count, transports, name, created_at)
     select gen_random_uuid(), person_id, sha256(person_id::text::bytea), '', 0, '{}', 'Key', now()
     from membership where account_id = $1`,
    [shop.id],
  );
  assert.equal(await canProgramsSend(database.kysely, shop.id), false);
  await database.pool.query(`delete from passkey where name = 'Key'`);
  for (const { client_id, grants } of rows)
    await database.pool.query('update integration set grants = $2 where client_id = $1', [
      client_id,
      grants,
    ]);
});

test('a missing add-on is reported until an operator enables it', async () => {
  assert.ok(await isCalm('no-transactional'));
  const whole = `/installation/accounts/${shop.id}`;
  await setOperator(database.kysely, shop.owner.id, true);
  await addPasskey(database, shop.owner.id);
  await owner.put(whole, { name: 'Shop', addOns: [] });
  assert.match((await concern('no-transactional')).nextStep, /operator/);
  await owner.put(whole, { name: 'Shop', addOns: ['transactional'] });
  await waitFor('calm', () => isCalm('no-transactional'));
});
