import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  domainSettings,
  saveDomainSettings,
} from '../../../src/accounts/sender/domain-settings.ts';
import {
  addSendingDomain,
  type DomainSettings,
  removeSendingDomain,
} from '../../../src/accounts/sender/sending-domain-store.ts';
import type { AccountId } from '../../../src/base/values/ids.ts';
import { commandLine } from '../../../src/operating/change/actor.ts';
import { lockAccount } from '../../../src/operating/change/change-lock-store.ts';
import {
  changeResource,
  dropResource,
  type ResourceChange,
  ResourceNotFound,
} from '../../../src/operating/change/change-resource.ts';
import { saveShop } from '../../support/shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { waitForLock } from '../../support/wait-for-lock.ts';

const { database } = await createTestDatabase();
const accountId = '46100' as AccountId;
const domain = 'shop.test';
await saveShop(database, { id: accountId });
await addSendingDomain(database.kysely, accountId, domain, 'bounces.shop.test');

function poolChange(sourcePool: string): ResourceChange<DomainSettings> {
  return {
    ...domainSettings(accountId, domain),
    write: (transaction, before) =>
      saveDomainSettings(transaction, accountId, domain, before, { sourcePool }),
  };
}

/** Returns the audit log and clears it. */
async function takeEvents(): Promise<unknown[]> {
  const { rows } = await database.pool.query(
    'with taken as (delete from audit_event returning id, kind, account_id, detail) select kind, account_id, detail from taken order by id',
  );
  return rows;
}

const event = (kind: string, detail: object) => ({ kind, account_id: accountId, detail });

test('a change is recorded with the changed members; a change without effect is not recorded', async () => {
  const actor = commandLine(accountId);
  const { after, created } = await changeResource({ database }, actor, poolChange('slow'));
  assert.deepEqual([after.sourcePool, created], ['slow', false]);
  const changed = event('domain_changed', {
    id: domain,
    changed: 'sourcePool',
    changes: [{ name: 'sourcePool', from: 'default', to: 'slow' }],
  });
  assert.deepEqual(await takeEvents(), [changed]);
  await changeResource({ database }, actor, poolChange('slow'));
  assert.deepEqual(await takeEvents(), []);
});

test('a change waits for a concurrent one in its account and is repeated if they conflict', async () => {
  let waiting = true;
  let attempts = 0;
  const locked = Promise.withResolvers<void>();
  const held = database.kysely.transaction().execute(async (transaction) => {
    await lockAccount(transaction, accountId);
    locked.resolve();
    await waitForLock(database);
    waiting = false;
  });
  await locked.promise;
  await changeResource({ database }, commandLine(accountId), {
    ...poolChange('fast'),
    async write(transaction, before) {
      assert.equal(waiting, false);
      attempts += 1;
      if (attempts === 1) throw Object.assign(new Error('deadlock'), { code: '40P01' });
      await saveDomainSettings(transaction, accountId, domain, before, { sourcePool: 'fast' });
    },
  });
  await held;
  assert.equal(attempts, 2);
  assert.equal((await takeEvents()).length, 1);
});

test('a failed precondition or a missing resource changes and records nothing', async () => {
  const actor = commandLine(accountId);
  const refuse = () => {
    throw new Error('not as it was');
  };
  const refused = { ...poolChange('other'), precondition: refuse };
  await assert.rejects(changeResource({ database }, actor, refused), /not as it was/);
  const removal = {
    ...domainSettings(accountId, domain),
    write: (transaction: typeof database.kysely) =>
      removeSendingDomain(transaction, accountId, domain),
  };
  await dropResource({ database }, actor, removal);
  assert.deepEqual(await takeEvents(), [event('domain_removed', { id: domain })]);
  await assert.rejects(dropResource({ database }, actor, removal), ResourceNotFound);
  await assert.rejects(changeResource({ database }, actor, poolChange('x')), ResourceNotFound);
  assert.deepEqual(await takeEvents(), []);
});
