import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DkimKeyStore } from '../../../src/accounts/sender/dkim-key-store.ts';
import {
  claimDueDomains,
  readSendingDomains,
} from '../../../src/accounts/sender/sending-domain-store.ts';
import { SendingDomains } from '../../../src/accounts/sender/sending-domains.ts';
import { DnsClient } from '../../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../../src/base/dns/dns-server.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { saveShop } from '../../support/shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { TestDns } from '../../support/test-dns.ts';
import { testKey } from '../../support/test-service.ts';

const { database } = await createTestDatabase();
const zones = await new TestDns().start();
const accountId = await saveShop(database, { id: '46100' });

function node(): SendingDomains {
  return new SendingDomains({
    database,
    dns: new DnsClient([parseDnsServer(zones.server)]),
    keys: new DkimKeyStore(testKey),
    service: {
      delivery: 'direct',
      host: 'mail.sender.test',
      spfMechanisms: ['ip4:192.0.2.1'],
      recordsElsewhere: [],
      usesReturnPath: true,
      trackingTarget: undefined,
    },
    log: createLog('silent'),
  });
}

const names = Array.from({ length: 17 }, (_, place) => `d${place}.test`);
const nodes = [node(), node(), node()];

/** How often the DKIM records of each domain were queried. */
function countDkimQueries(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const query of zones.queries) {
    const domain = /^TXT \w+\._domainkey\.(.+)$/.exec(query)?.[1];
    if (domain !== undefined) counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }
  return counts;
}

test('nodes share due checks: each domain is checked by exactly one', async () => {
  for (const name of names) await nodes[0]?.add(accountId, name);
  zones.queries.length = 0;
  await Promise.all(nodes.map((one) => one.checkDue()));
  assert.deepEqual(countDkimQueries(), new Map(names.map((name) => [name, 1])));
  const domains = await readSendingDomains(database.kysely, accountId);
  assert.ok(domains.every(({ checkedAt }) => checkedAt !== undefined));
});

test('checks claimed by a node that died are due again after ten minutes', async () => {
  await database.pool.query("update sending_domain set next_check_at = now() - interval '1 s'");
  const taken = await claimDueDomains(database.kysely, 4);
  zones.queries.length = 0;
  await Promise.all(nodes.map((one) => one.checkDue()));
  assert.equal(countDkimQueries().size, names.length - taken.length);
  await database.pool.query(
    "update sending_domain set next_check_at = next_check_at - interval '10 minutes' where domain = any ($1)",
    [taken.map(({ domain }) => domain)],
  );
  zones.queries.length = 0;
  await Promise.all(nodes.map((one) => one.checkDue()));
  assert.deepEqual(countDkimQueries(), new Map(taken.map(({ domain }) => [domain, 1])));
});

test('domains that aren’t due aren’t checked', async () => {
  zones.queries.length = 0;
  await Promise.all(nodes.map((one) => one.checkDue()));
  assert.deepEqual(zones.queries, []);
});

test('a failing check doesn’t block other domains', async () => {
  const { pool } = database;
  await pool.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'not this one'; end $$;
    create trigger refuse before insert on domain_finding for each row when (new.domain = 'd3.test') execute function refuse();
    update sending_domain set checked_at = null, next_check_at = now() - interval '1 s'`);
  await nodes[0]?.checkDue();
  const domains = await readSendingDomains(database.kysely, accountId);
  const unchecked = domains.filter(({ checkedAt }) => checkedAt === undefined);
  assert.deepEqual(
    unchecked.map(({ domain }) => domain),
    ['d3.test'],
  );
});
