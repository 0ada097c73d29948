import type { Dns } from '../../../base/dns/dns-client.ts';
import { classifyReply } from '../classify-reply.ts';
import type { StsFinding, StsPolicies } from '../mta-sts/sts-policies.ts';
import { formatReply, type Reply } from '../reply.ts';
import { findDestination } from '../shaping/destination-profiles.ts';
import type { SlotOutcome } from '../shaping/sending-limiter.ts';
import type { Shaper } from '../shaping/shaper.ts';
import { isSmtpSessionLimit } from '../smtp-session-limit.ts';
import {
  type AdmittedTransaction,
  admitAlways,
  type MailOutline,
  type Postponement,
  type TransactionEnd,
  type TransactionResult,
  type Transport,
  withoutServer,
} from '../transport.ts';
import { quotaDelayMs } from '../warm-up/warm-up-plan.ts';
import { type MailRoute, type MailRouteOptions, planRoute } from './plan-route.ts';
import { HopPools, RouteSender, type RouteSenderDependencies } from './send-by-route.ts';
import { defaultPool } from './source-pools.ts';

/** Causes of temporary replies that ask for a lower rate. */
const throttlingCauses = new Set(['throttled', 'reputation']);
const aboutConnections = /connection|concurren|session/i;

/** What a transaction says about its destination's rate limit. */
export function classifyThrottling(result: TransactionResult): SlotOutcome {
  const { end } = result;
  if (end.kind === 'stopped' || end.kind === 'lost') return { kind: 'unused' };
  if (end.kind === 'fault' && end.fault === 'source') return { kind: 'unused' };
  if (end.kind === 'reply') {
    if (Math.floor(end.reply.code / 100) === 2) return { kind: 'accepted' };
    // A new session helps here; a lower rate doesn't.
    const named =
      result.sessionEnds?.some((session) => session.kind === 'refused' && session.named) === true;
    if (named && isSmtpSessionLimit(end.reply)) return { kind: 'answered' };
    return throttlingOf(end.reply) ?? { kind: 'answered' };
  }
  // A TLS failure comes from one domain's policy; the server was reachable.
  if (end.kind === 'fault' && end.stage === 'connect' && end.fault !== 'tls')
    return { kind: 'unreachable', text: end.text };
  return { kind: 'answered' };
}

/**
 * 421 ends the session (RFC 5321 section 4.2.3) and X.7.x is about policy (RFC 3463), which large receivers use to
 * throttle. A lower rate doesn't help against greylisting or missing authentication.
 */
function throttlingOf(reply: Reply): SlotOutcome | undefined {
  const meaning = classifyReply(reply.code, reply.enhanced, reply.text);
  if (meaning.kind !== 'temporary') return undefined;
  const policy = reply.enhanced?.startsWith('4.7.') === true && meaning.cause === 'other';
  if (!throttlingCauses.has(meaning.cause) && reply.code !== 421 && !policy) return undefined;
  if (meaning.cause === 'greylist' || meaning.cause === 'authentication') return undefined;
  return {
    kind: 'slowed',
    what:
      aboutConnections.test(reply.text) && !/message|rate/i.test(reply.text)
        ? 'connections'
        : 'messages',
    text: formatReply(reply),
    after: meaning.after,
  };
}

export interface DirectTransportDependencies extends Omit<RouteSenderDependencies, 'pools'> {
  /** Should be cached, since every message does a lookup. */
  readonly dns: Dns;
  readonly policies: Pick<StsPolicies, 'find'>;
  readonly limiter: Pick<Shaper, 'admit'>;
  readonly routes: Omit<MailRouteOptions, 'families'>;
}

/** Delivers directly to the recipients' servers, within each destination's rate limit. */
export class DirectTransport implements Transport {
  readonly #dependencies: DirectTransportDependencies;
  readonly #pools = new HopPools();
  readonly #sender: RouteSender;

  constructor(dependencies: DirectTransportDependencies) {
    this.#dependencies = dependencies;
    this.#sender = new RouteSender({ ...dependencies, pools: this.#pools });
  }

  async admit({ to, pool, urgent }: MailOutline): Promise<AdmittedTransaction | Postponement> {
    const domain = to.slice(to.lastIndexOf('@') + 1).toLowerCase();
    const { dns, sources, routes, limiter } = this.#dependencies;
    const families = sources.families(pool);
    if (families.length === 0) return waitForQuota(pool);
    const route = await planRoute(dns, domain, { ...routes, families });
    if (route.kind !== 'hops') return decidedByDns(route);
    const destination = findDestination(route.hosts[0]?.name ?? domain, domain);
    const slot = await limiter.admit(destination, urgent);
    if (!('release' in slot)) return slot;
    return {
      cancel: () => slot.release({ kind: 'unused' }),
      send: async (mail, releaseDot, stopping) => {
        try {
          const finding = await this.#findPolicy(domain);
          const routed = {
            domain,
            hops: route.hops,
            finding,
            pool,
            destination: destination.name,
            slot,
          };
          const result = await this.#sender.send(routed, mail, releaseDot, stopping);
          slot.release(classifyThrottling(result), result.sessionEnds);
          return { ...result, receiver: destination.operator };
        } catch (error) {
          slot.release({ kind: 'unused' });
          throw error;
        }
      },
    };
  }

  drop(): void {
    this.#pools.drop();
  }

  close(): Promise<void> {
    return this.#pools.close();
  }

  async #findPolicy(domain: string): Promise<StsFinding> {
    if (domain.startsWith('[')) return { policy: undefined, fault: undefined };
    return await this.#dependencies.policies.find(domain);
  }
}

function waitForQuota(pool: string = defaultPool): Postponement {
  const reason = `waiting: the source addresses of pool ${pool} are warming up and have reached today’s limit`;
  return { delayMs: quotaDelayMs(Date.now(), Math.random()), reason };
}

/** Needs no limiter slot, because DNS already decides the outcome. */
function decidedByDns(route: Exclude<MailRoute, { readonly kind: 'hops' }>): AdmittedTransaction {
  const end: TransactionEnd =
    route.kind === 'refused'
      ? { kind: 'unfit', cause: 'no-domain', text: `${route.enhanced} ${route.text}` }
      : { kind: 'fault', stage: 'connect', fault: 'name', text: route.text };
  return admitAlways(async () => withoutServer(end, 'DNS'));
}
