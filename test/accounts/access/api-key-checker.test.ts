import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import type { KyselyPlugin } from 'kysely';
import { ApiKeyParser, generateApiKey } from '../../../src/accounts/access/api-key.ts';
import { ApiKeyChecker, ApiKeyUsage } from '../../../src/accounts/access/api-key-checker.ts';
import {
  expireApiKey,
  readApiKeys,
  removeApiKey,
} from '../../../src/accounts/access/api-key-store.ts';
import { replaceApiKey } from '../../../src/accounts/access/issue-api-key.ts';
import type { KeyPrincipal } from '../../../src/accounts/access/principal.ts';
import {
  accessKeyIdOf,
  parseAccessKeyId,
  SigningSecrets,
} from '../../../src/accounts/access/signing-secrets.ts';
import { ChangeListener } from '../../../src/base/database/change-listener.ts';
import { openDatabase } from '../../../src/base/database/open-database.ts';
import { MasterKey } from '../../../src/base/secrets/master-key.ts';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { addKey, addSigningKey } from '../../support/api-key.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, url, clock } = await createTestDatabase();
const masterKey = new MasterKey(randomBytes(32));
const keys = new ApiKeyParser(masterKey);
const secrets = new SigningSecrets(masterKey);
const log = createLog('silent');
const shop = '46100' as AccountId;
await database.pool.query("insert into account (id, name) values ('46100', 'Shop')");

interface Node {
  readonly checker: ApiKeyChecker;
  readonly changes: ChangeListener;
  statements(): number;
}

/** @param max keys kept in memory */
async function startNode(max?: number): Promise<Node> {
  const own = openDatabase({ url });
  const changes = new ChangeListener(own.settings, log);
  let statements = 0;
  const counter: KyselyPlugin = {
    transformQuery({ node }) {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const counted = { kysely: own.kysely.withPlugin(counter) };
  const checker = new ApiKeyChecker({ database: counted, keys, secrets, changes, clock, log }, max);
  await changes.start();
  after(async () => {
    await changes.close();
    await own.close();
  });
  return { checker, changes, statements: () => statements };
}

const here = await startNode();
const there = await startNode();

/** Repeats the request until it is served from memory, because an overloaded machine briefly bypasses the cache. */
async function cacheKey({ checker }: Node, text: string): Promise<KeyPrincipal> {
  let found: unknown;
  await waitFor('the key to be answered from memory', async () => {
    await checker.check(text);
    found = checker.check(text);
    return found !== undefined && !(found instanceof Promise);
  });
  return found as KeyPrincipal;
}

test('a key is read once and then checked synchronously in memory', async () => {
  const key = await cacheKey(here, await addKey(database, shop, { scopes: ['messages:send'] }));
  assert.equal(key.kind, 'key');
  assert.equal(key.reach.accountId, shop);
  assert.deepEqual([...key.scopes], ['messages:send']);
  assert.equal(key.networks, undefined);
  assert.equal(key.templates, undefined);
});

test('a revoked or expired key is forgotten on every node within a second', async () => {
  for (const end of [
    (id: string) => removeApiKey(database.kysely, shop, id),
    (id: string) =>
      expireApiKey(database.kysely, shop, id, {
        replacedBy: id,
        expiresAt: new Date(Date.now() - 1_000),
      }),
  ]) {
    const text = await addKey(database, shop);
    const { keyId } = await cacheKey(here, text);
    await cacheKey(there, text);
    await end(keyId);
    for (const node of [here, there])
      await waitFor(
        'the key to end',
        async () => (await node.checker.check(text)) === undefined,
        1_000,
      );
  }
});

test('a key ends when it expires, both in memory and in the database', async () => {
  const node = await startNode();
  const text = await addKey(database, shop, { expiresAt: new Date(Date.now() + 3_600_000) });
  await cacheKey(node, text);
  await clock.advance(3_590_000);
  assert.ok(await node.checker.check(text));
  await clock.advance(20_000);
  assert.equal(await node.checker.check(text), undefined);
  const fresh = await startNode();
  assert.equal(await fresh.checker.check(text), undefined);
  await clock.reset();
});

test('an unknown key is not cached, because another node may create it a moment later', async () => {
  const { text, hash, hint } = generateApiKey(shop);
  assert.equal(await here.checker.check(text), undefined);
  await database.pool.query(
    `insert into api_key (account_id, id, hash, hint, name, scopes)
     values ($1, gen_random_uuid(), $2, $3, 'Late', '{messages:send}')`,
    [shop, hash, hint],
  );
  assert.equal((await here.checker.check(text))?.reach.accountId, shop);
});

test('ASVS 4.0.3 11.1.4: 5,000 forged keys at once cost a dozen statements; a wrong checksum costs none', async () => {
  const before = here.statements();
  const forged = Array.from({ length: 5_000 }, () => generateApiKey(shop).text);
  const responses = await Promise.all(forged.map((text) => here.checker.check(text)));
  assert.ok(responses.every((response) => response === undefined));
  const statementCount = here.statements() - before;
  assert.ok(statementCount <= 20, `${statementCount} statements`);
  const wrong = forged.map((text) => text.slice(0, -1) + (text.endsWith('0') ? '1' : '0'));
  for (const text of wrong) assert.equal(here.checker.check(text), undefined);
  assert.equal(here.statements() - before, statementCount);
});

test('the last use of a key is written once for many uses, and again only after an interval', async () => {
  const node = await startNode();
  const text = await addKey(database, shop);
  const { keyId } = await cacheKey(node, text);
  for (let use = 0; use < 1_000; use += 1) await node.checker.check(text);
  const before = node.statements();
  await node.checker.writeUsage();
  await node.checker.writeUsage();
  assert.equal(node.statements() - before, 1);
  const lastUse = async () =>
    (await readApiKeys(database.kysely, shop)).find(({ id }) => id === keyId)?.lastUsedAt;
  const first = await lastUse();
  assert.ok(first instanceof Date);
  await node.checker.check(text);
  await node.checker.writeUsage();
  assert.deepEqual(await lastUse(), first, 'recorded a moment ago');
  await database.pool.query(
    "update api_key set last_used_at = now() - interval '1 minute' where id = $1",
    [keyId],
  );
  await node.checker.check(text);
  await node.checker.writeUsage();
  assert.ok(((await lastUse())?.getTime() ?? 0) >= first.getTime());
});

test('recording the last use skips rows locked by another node instead of waiting', async () => {
  const node = await startNode();
  const text = await addKey(database, shop);
  const { keyId } = await cacheKey(node, text);
  await database.kysely.transaction().execute(async (transaction) => {
    await transaction
      .updateTable('api_key')
      .set({ name: 'Held' })
      .where('id', '=', keyId)
      .execute();
    await node.checker.writeUsage();
  });
  const { rows } = await database.pool.query('select last_used_at from api_key where id = $1', [
    keyId,
  ]);
  assert.deepEqual(rows, [{ last_used_at: null }]);
});

test('while the cache is bypassed, every request reads its key again, and the use still counts', async () => {
  const node = await startNode();
  const text = await addKey(database, shop);
  await node.changes.close();
  const uses = new ApiKeyUsage(database, log);
  for (let use = 0; use < 50; use += 1) {
    const key = await node.checker.check(text);
    assert.ok(key);
    uses.add(key);
  }
  assert.equal(uses.size, 1);
});

test('the usage queue stays bounded, however many keys are used and however slow the database is', async () => {
  let recorded = 0;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow: KyselyPlugin = {
    transformQuery({ node }) {
      recorded += 1;
      return node;
    },
    async transformResult({ result }) {
      await held;
      return result;
    },
  };
  const uses = new ApiKeyUsage({ kysely: database.kysely.withPlugin(slow) }, log, 100);
  for (let number = 0; number < 10_000; number += 1)
    uses.add({
      kind: 'key',
      keyId: `019a0000-0000-7000-8000-${String(number).padStart(12, '0')}`,
      reach: { accountId: shop },
      scopes: new Set(),
      networks: undefined,
      templates: undefined,
      mode: 'live',
    });
  assert.equal(uses.size, 100);
  assert.equal(recorded, 1, 'one statement at a time');
  release();
  await uses.write();
  assert.equal(uses.size, 0);
  assert.equal(recorded, 2);
});

test('memory stays bounded with many keys, and concurrent requests share one statement', async () => {
  const node = await startNode(10);
  const texts = await Promise.all(Array.from({ length: 40 }, () => addKey(database, shop)));
  for (const text of texts) assert.ok(await node.checker.check(text));
  assert.equal(node.statements(), 40);
  const [first = ''] = texts;
  await Promise.all(Array.from({ length: 5 }, () => node.checker.check(first)));
  assert.equal(node.statements(), 41);
});

const addSigning = (expiresAt?: Date) =>
  addSigningKey(database, masterKey, shop, expiresAt === undefined ? {} : { expiresAt });

test('a key that signs is found with its secret by its ID, which names the account; other keys aren’t', async () => {
  const { id, text, accessKeyId, secretAccessKey } = await addSigning();
  assert.equal(accessKeyId, `${shop}_${id.replaceAll('-', '')}`);
  assert.deepEqual(parseAccessKeyId(accessKeyId), { accountId: shop, id });
  assert.match(secretAccessKey, /^[0-9A-Za-z]{40}$/);
  const found = await here.checker.findSigning(accessKeyId);
  assert.equal(found?.secret, secretAccessKey);
  assert.deepEqual(found.principal, await here.checker.check(text));
  const other = await cacheKey(here, await addKey(database, shop));
  const [, stranger = ''] = accessKeyIdOf({ accountId: shop, id: other.keyId }).split('_');
  for (const wrong of [
    '',
    shop,
    text,
    id,
    `${shop}_${stranger}`,
    `46101_${accessKeyId.slice(6)}`,
    `${accessKeyId}0`,
  ])
    assert.equal(await here.checker.findSigning(wrong), undefined, wrong);
});

test('ASVS 4.0.3 2.10.4: the secret of a key is sealed for this key, and in no list of keys', async () => {
  const { id, secretAccessKey } = await addSigning();
  const { rows } = await database.pool.query('select signing_secret from api_key where id = $1', [
    id,
  ]);
  const sealed: Buffer = rows[0].signing_secret;
  assert.equal(secrets.open({ accountId: shop, id }, sealed), secretAccessKey);
  assert.throws(() => secrets.open({ accountId: shop, id: crypto.randomUUID() }, sealed));
  assert.throws(() => secrets.open({ accountId: '46101' as AccountId, id }, sealed));
  assert.ok(!JSON.stringify(await readApiKeys(database.kysely, shop)).includes(secretAccessKey));
});

test('a key stops signing on every node within a second once it is revoked, and when it expires', async () => {
  const { id, accessKeyId } = await addSigning();
  for (const node of [here, there]) assert.ok(await node.checker.findSigning(accessKeyId));
  await removeApiKey(database.kysely, shop, id);
  for (const node of [here, there])
    await waitFor(
      'the key to end',
      async () => (await node.checker.findSigning(accessKeyId)) === undefined,
      1_000,
    );
  const node = await startNode();
  const short = await addSigning(new Date(Date.now() + 3_600_000));
  assert.ok(await node.checker.findSigning(short.accessKeyId));
  await clock.advance(3_610_000);
  assert.equal(await node.checker.findSigning(short.accessKeyId), undefined);
  await clock.reset();
});

test('a key that replaces one that signs has a secret of its own; one that replaces another has none', async () => {
  const replace = async (id: string) => {
    const old = (await readApiKeys(database.kysely, shop)).find((key) => key.id === id);
    assert.ok(old);
    const now = Date.now();
    const rotation = { accountId: shop, old, overlapHours: 0, secrets, createdBy: undefined, now };
    const created = await replaceApiKey(database.kysely, rotation);
    assert.ok(created.problem === undefined);
    return created;
  };
  const old = await addSigning();
  const { signing } = await replace(old.id);
  assert.notEqual(signing?.secretAccessKey, old.secretAccessKey);
  const found = await here.checker.findSigning(signing?.accessKeyId ?? '');
  assert.equal(found?.secret, signing?.secretAccessKey);
  assert.equal(await here.checker.findSigning(old.accessKeyId), undefined);
  const plain = await cacheKey(here, await addKey(database, shop));
  assert.equal((await replace(plain.keyId)).signing, undefined);
});
