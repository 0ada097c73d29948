import type { Database } from '../../../base/database/open-database.ts';
import { DnsCache, DnsClient } from '../../../base/dns/dns-client.ts';
import type { DnsServer } from '../../../base/dns/dns-server.ts';
import { PublicNetworks } from '../../../base/network/public-networks.ts';
import type { MasterKey } from '../../../base/secrets/master-key.ts';
import { PeriodicTask } from '../../../base/threads/periodic-task.ts';
import type { Clock } from '../../../base/values/clock.ts';
import { newId } from '../../../base/values/ids.ts';
import type { Log } from '../../../base/values/log.ts';
import { findDirectIdentity, type SigningDomainLookup } from '../find-identity.ts';
import { fetchStsPolicy } from '../mta-sts/fetch-sts-policy.ts';
import { StsPolicies } from '../mta-sts/sts-policies.ts';
import { StsPolicyStore } from '../mta-sts/sts-policy-store.ts';
import { ReturnPaths } from '../return-path.ts';
import { Shaper } from '../shaping/shaper.ts';
import { ShapingStore } from '../shaping/shaping-store.ts';
import type { SmtpTimeouts } from '../smtp-session.ts';
import { TlsCounter } from '../tls-report/tls-counter.ts';
import { TlsResultStore } from '../tls-report/tls-result-store.ts';
import { WarmUpStore } from '../warm-up/warm-up-store.ts';
import { WarmUps } from '../warm-up/warm-ups.ts';
import { DirectTransport } from './direct-transport.ts';
import { localAddresses, type Source, SourcePools } from './source-pools.ts';

export interface DirectModuleDependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly key: MasterKey;
  readonly domains: SigningDomainLookup;
  readonly dnsServers: readonly DnsServer[];
  /** Hostname of this mail server. */
  readonly hostname: string;
  readonly sources: readonly Source[];
  readonly port: number;
  readonly allowLoopback: boolean;
  /** Private networks that receiving servers may be in. */
  readonly allowedNetworks: readonly string[];
}

/** Connecting succeeds quickly or not at all; the other timeouts follow RFC 5321 section 4.5.3.2, as with relays. */
const timeouts: Partial<SmtpTimeouts> = { connect: 30_000 };
/** Concurrent messages. The limit is high because most of them wait for remote servers. */
export const directSlots = 250;
const cleanupIntervalMs = 3_600_000;

/** Direct delivery to recipients' servers, with its background jobs: DNS, MTA-STS, rate limits, sources and pools. */
export function createDirectModule(dependencies: DirectModuleDependencies) {
  const { database, clock, log, allowLoopback, hostname, port } = dependencies;
  const node = newId();
  const now = () => clock.now();
  const loopback = allowLoopback ? ['127.0.0.0/8', '::1/128'] : [];
  const networks = new PublicNetworks([...dependencies.allowedNetworks, ...loopback]);
  const dns = new DnsCache(new DnsClient(dependencies.dnsServers), clock);
  const warmUpStore = new WarmUpStore(database, node);
  const warmUps = new WarmUps(warmUpStore, now, log);
  const sources = new SourcePools(dependencies.sources, hostname, warmUps);
  const shapingStore = new ShapingStore(database, node, now);
  const shaper = new Shaper(shapingStore, log, now);
  const tlsStore = new TlsResultStore(database, node);
  const tally = new TlsCounter(tlsStore, log);
  const ownNames = new Set([hostname, ...sources.all.map(({ name }) => name)]);
  const transport = new DirectTransport({
    dns,
    policies: new StsPolicies({
      dns,
      store: new StsPolicyStore(database),
      fetch: (domain) => fetchStsPolicy(dns, domain, { networks }),
      clock,
      log,
    }),
    limiter: shaper,
    sources,
    tally,
    port,
    timeouts,
    routes: { ownNames, ownAddresses: localAddresses(), networks, allowLoopback },
  });
  const cleanup = new PeriodicTask(
    cleanupIntervalMs,
    async () => {
      await Promise.all([shapingStore.clean(), tlsStore.clean(), warmUpStore.clean()]);
    },
    {
      onError: (error) =>
        log.debug({ err: error }, 'could not delete old shaping, TLS and warm-up counts'),
    },
  );
  const paths = new ReturnPaths(dependencies.key);
  return {
    transport,
    findIdentity: findDirectIdentity(dependencies.domains, paths, warmUps),
    async start(): Promise<void> {
      await warmUps.start();
      shaper.start();
      tally.start();
      cleanup.start();
    },
    async stop(): Promise<void> {
      await cleanup.stop();
      await shaper.stop();
      await tally.stop();
      await warmUps.stop();
    },
  };
}
