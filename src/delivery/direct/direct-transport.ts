import type { Dns } from '../../foundation/dns/dns-client.ts';
import type { StsFinding } from '../mta-sts/sts-policies.ts';
import { findDestination } from '../shaping/destination-profiles.ts';
import type { LimiterSlot, SendingLimiter } from '../shaping/sending-limiter.ts';
import type {
  AdmittedTransaction,
  MailOutline,
  Postponement,
  SendingAdmission,
  SendMail,
  TransactionEnd,
  TransactionResult,
  Transport,
} from '../transport.ts';
import { quotaDelayMs } from '../warm-up/warm-up-plan.ts';
import { classifyThrottling } from './classify-throttling.ts';
import type { HopPools } from './hop-pools.ts';
import { type MailRoute, type MailRouteOptions, planRoute } from './plan-route.ts';
import type { RouteSender } from './send-by-route.ts';
import { defaultPool, type SourcePools } from './source-pools.ts';

export interface DirectTransportDependencies {
  /** Should be cached, since every message does a lookup. */
  readonly dns: Dns;
  readonly policies: { find(domain: string): Promise<StsFinding> };
  readonly limiter: SendingLimiter;
  readonly sources: SourcePools;
  readonly pools: HopPools;
  readonly sender: RouteSender;
  readonly routes: Omit<MailRouteOptions, 'families'>;
}

/** Delivers directly to the recipients' servers, one transaction per domain, within each destination's rate limit. */
export class DirectTransport implements Transport {
  readonly #dependencies: DirectTransportDependencies;

  constructor(dependencies: DirectTransportDependencies) {
    this.#dependencies = dependencies;
  }

  async admit(outline: MailOutline): Promise<SendingAdmission> {
    const transactions: AdmittedTransaction[] = [];
    const postponed: Postponement[] = [];
    for (const [domain, to] of groupByDomain(outline.to)) {
      const admitted = await this.#admitDomain(domain, to, outline);
      if ('send' in admitted) transactions.push(admitted);
      else postponed.push(admitted);
    }
    return { transactions, postponed };
  }

  drop(): void {
    this.#dependencies.pools.drop();
  }

  async close(): Promise<void> {
    await this.#dependencies.pools.close();
  }

  async #admitDomain(
    domain: string,
    to: readonly string[],
    outline: MailOutline,
  ): Promise<AdmittedTransaction | Postponement> {
    const { dns, sources, routes, limiter } = this.#dependencies;
    const families = sources.families(outline.pool);
    if (families.length === 0) return waitForQuota(to, outline.pool);
    const route = await planRoute(dns, domain, { ...routes, families });
    if (route.kind !== 'hops') return decidedByDns(to, route);
    const destination = findDestination(route.hosts[0]?.name ?? domain, domain);
    const admitted = await limiter.admit(destination, outline.urgent);
    if (!('release' in admitted)) return { to, ...admitted };
    const { connections, messagesPerConnection } = admitted;
    const { pool } = outline;
    return this.#admittedTransaction(to, admitted, async (mail, releaseDot, stopping) => {
      const finding = await this.#findPolicy(domain);
      const routed = {
        domain,
        hops: route.hops,
        finding,
        pool,
        messagesPerConnection,
        destination: destination.name,
        connections,
      };
      const result = await this.#dependencies.sender.send(routed, mail, releaseDot, stopping);
      return { ...result, receiver: destination.operator };
    });
  }

  async #findPolicy(domain: string): Promise<StsFinding> {
    if (domain.startsWith('[')) return { policy: undefined, fault: undefined };
    return await this.#dependencies.policies.find(domain);
  }

  #admittedTransaction(
    to: readonly string[],
    slot: LimiterSlot,
    send: SendMail,
  ): AdmittedTransaction {
    return {
      to,
      cancel: () => slot.release({ kind: 'unused' }),
      send: async (mail, releaseDot, stopping) => {
        try {
          const result = await send(mail, releaseDot, stopping);
          slot.release(classifyThrottling(result), result.sessionEnds);
          return result;
        } catch (error) {
          slot.release({ kind: 'unused' });
          throw error;
        }
      },
    };
  }
}

function waitForQuota(to: readonly string[], pool: string = defaultPool): Postponement {
  const reason = `waiting: the source addresses of pool ${pool} are warming up and have reached today’s limit`;
  return { to, delayMs: quotaDelayMs(Date.now(), Math.random()), reason };
}

function groupByDomain(addresses: readonly string[]): Map<string, string[]> {
  return Map.groupBy(addresses, (address) =>
    address.slice(address.lastIndexOf('@') + 1).toLowerCase(),
  );
}

/** Needs no limiter slot, because DNS already decides the outcome. */
function decidedByDns(
  to: readonly string[],
  route: Exclude<MailRoute, { readonly kind: 'hops' }>,
): AdmittedTransaction {
  const end: TransactionEnd =
    route.kind === 'refused'
      ? { kind: 'unfit', cause: 'no-domain', text: `${route.enhanced} ${route.text}` }
      : { kind: 'fault', stage: 'connect', fault: 'name', text: route.text };
  return { to, send: async () => resultOf(end), cancel: () => undefined };
}

function resultOf(end: TransactionEnd): TransactionResult {
  return { refused: new Map(), end, server: 'DNS', transcript: [] };
}
