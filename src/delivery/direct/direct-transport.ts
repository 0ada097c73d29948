import type { Dns } from '../../foundation/dns/dns-answer.ts';
import type { StsFinding } from '../mta-sts/sts-policies.ts';
import { findDestination } from '../shaping/destination-profiles.ts';
import type { Pacer, Ticket } from '../shaping/pacer.ts';
import type {
  Admission,
  MailOutline,
  OutgoingMail,
  Permit,
  Postponement,
  TransactionEnd,
  TransactionResult,
  Transport,
} from '../transport.ts';
import { shareWait } from '../warm-up/warm-up-plan.ts';
import type { HopPools } from './hop-pools.ts';
import { judgePace } from './judge-pace.ts';
import { planRoute, type Route, type RouteOptions } from './plan-route.ts';
import type { RouteSender } from './send-by-route.ts';
import { defaultPool, type SourcePools } from './source-pools.ts';

export interface DirectTransportParts {
  /** With a memory, since each message asks. */
  readonly dns: Dns;
  readonly policies: { find(domain: string): Promise<StsFinding> };
  readonly pacer: Pacer;
  readonly sources: SourcePools;
  readonly pools: HopPools;
  readonly sender: RouteSender;
  readonly routes: Omit<RouteOptions, 'families'>;
}

/** Delivers straight to the recipients' servers, one transaction for each domain, at the pace of each destination. */
export class DirectTransport implements Transport {
  readonly #parts: DirectTransportParts;

  constructor(parts: DirectTransportParts) {
    this.#parts = parts;
  }

  async admit(outline: MailOutline): Promise<Admission> {
    const permits: Permit[] = [];
    const postponed: Postponement[] = [];
    for (const [domain, to] of groupByDomain(outline.to)) {
      const admitted = await this.#admitDomain(domain, to, outline);
      if ('send' in admitted) permits.push(admitted);
      else postponed.push(admitted);
    }
    return { permits, postponed };
  }

  /** Without `admit`: as if it were admitted, for mail of the service itself. */
  async send(
    mail: OutgoingMail,
    releaseDot: () => Promise<boolean>,
    stopping: AbortSignal,
  ): Promise<TransactionResult> {
    const outline = { to: mail.to, fromDomain: '', urgent: true };
    const { permits, postponed } = await this.admit(outline);
    const [permit, ...others] = permits;
    for (const other of others) other.cancel();
    if (permit === undefined || others.length > 0 || postponed.length > 0)
      return ended({ kind: 'stopped' });
    return await permit.send(mail, releaseDot, stopping);
  }

  drop(): void {
    this.#parts.pools.drop();
  }

  async close(): Promise<void> {
    await this.#parts.pools.close();
  }

  async #admitDomain(
    domain: string,
    to: readonly string[],
    outline: MailOutline,
  ): Promise<Permit | Postponement> {
    const { dns, sources, routes, pacer } = this.#parts;
    const families = sources.families(outline.pool);
    if (families.length === 0) return waitForShare(to, outline.pool);
    const route = await planRoute(dns, domain, { ...routes, families });
    if (route.kind !== 'hops') return permitNothing(to, route);
    const destination = findDestination(route.hosts[0]?.name ?? domain, domain);
    const admitted = await pacer.admit(destination, outline.urgent);
    if (!('done' in admitted)) return { to, ...admitted };
    const { connections, messagesPerConnection } = admitted;
    const { pool } = outline;
    return this.#permit(to, admitted, async (mail, releaseDot, stopping) => {
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
      return await this.#parts.sender.send(routed, mail, releaseDot, stopping);
    });
  }

  async #findPolicy(domain: string): Promise<StsFinding> {
    if (domain.startsWith('[')) return { policy: undefined, fault: undefined };
    return await this.#parts.policies.find(domain);
  }

  #permit(to: readonly string[], ticket: Ticket, send: Permit['send']): Permit {
    return {
      to,
      cancel: () => ticket.done({ kind: 'unused' }),
      send: async (mail, releaseDot, stopping) => {
        try {
          const result = await send(mail, releaseDot, stopping);
          ticket.done(judgePace(result), result.sessionEnds);
          return result;
        } catch (error) {
          ticket.done({ kind: 'unused' });
          throw error;
        }
      },
    };
  }
}

function waitForShare(to: readonly string[], pool: string = defaultPool): Postponement {
  const reason = `waiting: the source addresses of pool ${pool} are warming up and have had their messages of today`;
  return { to, milliseconds: shareWait(Date.now(), Math.random()), reason };
}

function groupByDomain(addresses: readonly string[]): Map<string, string[]> {
  return Map.groupBy(addresses, (address) =>
    address.slice(address.lastIndexOf('@') + 1).toLowerCase(),
  );
}

/** What DNS has settled needs no ticket: the answer is known. */
function permitNothing(
  to: readonly string[],
  route: Exclude<Route, { readonly kind: 'hops' }>,
): Permit {
  const end: TransactionEnd =
    route.kind === 'refused'
      ? { kind: 'unfit', cause: 'no-domain', text: `${route.enhanced} ${route.text}` }
      : { kind: 'fault', stage: 'connect', fault: 'name', text: route.text };
  return { to, send: async () => ended(end), cancel: () => undefined };
}

function ended(end: TransactionEnd): TransactionResult {
  return { refused: new Map(), end, server: 'DNS', transcript: [] };
}
