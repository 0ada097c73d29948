import { DnsCache, DnsClient } from '../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../src/base/dns/dns-server.ts';
import { PublicNetworks } from '../../src/base/network/public-networks.ts';
import { type AccountId, newId, newMessageId } from '../../src/base/values/ids.ts';
import type { LoadedTemplate } from '../../src/content/rendering/load-template.ts';
import { createDeferBacklog } from '../../src/sending/delivery/defer-backlog.ts';
import { createDelivery } from '../../src/sending/delivery/deliver-message.ts';
import { DirectTransport } from '../../src/sending/delivery/direct/direct-transport.ts';
import { SourcePools } from '../../src/sending/delivery/direct/source-pools.ts';
import { Shaper } from '../../src/sending/delivery/shaping/shaper.ts';
import { ShapingStore } from '../../src/sending/delivery/shaping/shaping-store.ts';
import type { Worker } from '../../src/sending/queue/worker.ts';
import type { DeliveryWorld } from './delivery-world.ts';
import { plainDelivery } from './plain-delivery.ts';
import type { TestDns } from './test-dns.ts';

/** A node that delivers directly to servers on the loopback: unsigned, without MTA-STS, with per-destination rate limits. */
export function startDirectNode(
  world: DeliveryWorld,
  zones: TestDns,
  port: number,
  slots: number,
): { readonly worker: Worker; stop(): Promise<void> } {
  const { database, clock, log } = world;
  const now = () => clock.now();
  const dns = new DnsCache(new DnsClient([parseDnsServer(zones.server)]), clock);
  const sources = new SourcePools([], 'node.sender.test');
  const shaper = new Shaper(new ShapingStore(database, newId(), now), log, now);
  const transport = new DirectTransport({
    dns,
    policies: { find: async () => ({ policy: undefined, fault: undefined }) },
    limiter: shaper,
    sources,
    tally: { count: () => undefined },
    port,
    timeouts: { connect: 30_000 },
    routes: {
      ownNames: new Set(),
      ownAddresses: new Set(),
      networks: new PublicNetworks(['127.0.0.0/8', '::1/128']),
      allowLoopback: true,
    },
  });
  const staging = { redirect: undefined, allow: [] };
  const deferBacklog = createDeferBacklog(database, log);
  const findVersion = (): LoadedTemplate => world.template;
  const attempt = createDelivery({
    ...plainDelivery,
    findVersion,
    transport,
    staging,
    log,
    deferBacklog,
  });
  shaper.start();
  const worker = world.worker(attempt, { slots, pollMs: 1_000 });
  worker.start();
  return {
    worker,
    async stop() {
      await worker.stop();
      await shaper.stop();
      await transport.close();
    },
  };
}

/** Stores many messages from an account to a domain at once. */
export async function acceptMany(
  world: DeliveryWorld,
  accountId: AccountId,
  domain: string,
  count: number,
): Promise<void> {
  const batchSize = 5_000;
  for (let done = 0; done < count; done += batchSize) {
    const ids = Array.from({ length: Math.min(batchSize, count - done) }, newMessageId);
    await world.database.pool.query(
      `with m as (
         insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens,
           track_clicks, deliver_when_delayed, client_id, accepted_at, state_at, content)
         select $1, id, 90, 't1', 1, false, false, false, true, 'c1', now(), now(),
           json_build_object('to', 'r' || place || '@' || $3::text, 'from', json_build_object('address', 'orders@shop.test'),
             'values', json_build_object('Name', 'Ann', 'Link', 'https://shop.test/'))
         from unnest($2::uuid[]) with ordinality as x (id, place))
       insert into queued_delivery (account_id, message_id, retention_days, priority, due_at, expires_at, recipient)
       select $1, id, 90, 1, now(), now() + interval '2 days', 0 from unnest($2::uuid[]) as x (id)`,
      [accountId, ids, domain],
    );
  }
}
