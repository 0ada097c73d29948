import { LRUCache } from 'lru-cache';
import type { StsFinding } from '../mta-sts/sts-policies.ts';
import { allowsHost } from '../mta-sts/sts-policy.ts';
import type { LimiterSlot } from '../shaping/sending-limiter.ts';
import { type OnConnect, SmtpPool } from '../smtp-pool.ts';
import type { TlsUse } from '../smtp-server-settings.ts';
import { SmtpSessionError, type SmtpTimeouts } from '../smtp-session.ts';
import type { SmtpSessionEnd } from '../smtp-session-limit.ts';
import { classifyTlsFault, type TlsCounter } from '../tls-report/tls-counter.ts';
import type { TlsResultType } from '../tls-report/tls-result-store.ts';
import {
  hasReachedServer,
  type OutgoingMail,
  type TransactionEnd,
  type TransactionResult,
  withoutServer,
} from '../transport.ts';
import type { Hop } from './plan-route.ts';
import type { Source, SourcePools } from './source-pools.ts';

interface Entry {
  readonly pool: SmtpPool;
  readonly group: string;
  usedAt: number;
  active: number;
}

/** The pools of one destination, which share its connection limit. */
interface PoolGroup {
  readonly name: string;
  /** Includes idle connections. */
  readonly maxConnections: number;
}

const idleMs = 60_000;

/** Connection pools by server, source address and TLS use. Unused pools are removed. */
export class HopPools {
  readonly #entries = new Map<string, Entry>();
  readonly #groups = new Map<string, Set<Entry>>();
  #sweptAt = 0;

  /** Runs `work` with the pool for a key, creating it if needed. */
  async use<Result>(
    key: string,
    group: PoolGroup,
    make: () => SmtpPool,
    work: (pool: SmtpPool) => Promise<Result>,
  ): Promise<Result> {
    this.#sweep();
    const entry = this.#entries.get(key) ?? this.#add(key, group.name, make());
    if (entry.pool.idleCount === 0) this.#freeConnection(group);
    entry.active += 1;
    try {
      return await work(entry.pool);
    } finally {
      entry.active -= 1;
      entry.usedAt = performance.now();
    }
  }

  drop(): void {
    for (const { pool } of this.#entries.values()) pool.drop();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ pool }) => pool.close()));
    this.#entries.clear();
    this.#groups.clear();
  }

  #add(key: string, group: string, pool: SmtpPool): Entry {
    const entry = { pool, group, usedAt: 0, active: 0 };
    this.#entries.set(key, entry);
    const members = this.#groups.get(group) ?? new Set();
    this.#groups.set(group, members.add(entry));
    return entry;
  }

  /** Closes an idle connection to one host of a destination so that another host can get a new one. */
  #freeConnection({ name, maxConnections }: PoolGroup): void {
    const members = [...(this.#groups.get(name) ?? [])];
    let open = members.reduce((total, { pool }) => total + pool.open, 0);
    for (const { pool } of members) while (open >= maxConnections && pool.closeIdle()) open -= 1;
  }

  #sweep(): void {
    const now = performance.now();
    if (now < this.#sweptAt + idleMs) return;
    this.#sweptAt = now;
    for (const [key, entry] of this.#entries) {
      if (entry.active > 0 || now < entry.usedAt + idleMs) continue;
      this.#entries.delete(key);
      const members = this.#groups.get(entry.group);
      members?.delete(entry);
      if (members?.size === 0) this.#groups.delete(entry.group);
      void entry.pool.close();
    }
  }
}

export interface RouteSenderDependencies {
  readonly sources: SourcePools;
  readonly pools: HopPools;
  readonly tally: Pick<TlsCounter, 'count'>;
  readonly port: number;
  readonly timeouts: Partial<SmtpTimeouts>;
  /** CA certificates to trust instead of the default ones. */
  readonly ca?: string | undefined;
}

/** A transaction with one domain. */
export interface RoutedMail {
  readonly domain: string;
  readonly hops: readonly Hop[];
  readonly finding: StsFinding;
  readonly pool: string | undefined;
  readonly destination: string;
  /** Limits the connections and the messages of each. */
  readonly slot: LimiterSlot;
}

/** How long to send in plaintext to a server with broken TLS before trying TLS again. */
const brokenTlsMs = 3_600_000;
const maxBrokenTls = 10_000;

/** Tries a domain's servers in order, each with the TLS it requires, until one gives a conclusive reply. */
export class RouteSender {
  readonly #dependencies: RouteSenderDependencies;
  readonly #brokenTls = new LRUCache<string, true>({ max: maxBrokenTls, ttl: brokenTlsMs });

  constructor(dependencies: RouteSenderDependencies) {
    this.#dependencies = dependencies;
  }

  /** Runs one transaction; see `SendMail`. */
  async send(
    routed: RoutedMail,
    mail: OutgoingMail,
    releaseDot: () => Promise<boolean>,
    stopping: AbortSignal,
  ): Promise<TransactionResult> {
    const faults: string[] = [];
    const sessionEnds: SmtpSessionEnd[] = [];
    let last: TransactionResult | undefined;
    for (const hop of routed.hops) {
      if (stopping.aborted) return withoutServer({ kind: 'stopped' });
      const refusal = this.#refuseHop(routed, hop);
      if (refusal !== undefined) {
        faults.push(refusal);
        continue;
      }
      const { sources } = this.#dependencies;
      const source = sources.choose(routed.pool, hop.family, Math.random());
      if (source === undefined) continue;
      for (const [index, tls] of this.#tlsUses(routed, hop).entries()) {
        last = await this.#transact(routed, hop, source, tls, (pool) => {
          pool.messagesPerConnection = routed.slot.messagesPerConnection;
          // RFC 8460 section 4: a session counts once, with the first TLS setting that was tried.
          const onConnect: OnConnect | undefined =
            index === 0 ? (outcome) => this.#countSession(routed, hop, tls, outcome) : undefined;
          return pool.send(mail, releaseDot, stopping, onConnect);
        });
        sessionEnds.push(...(last.sessionEnds ?? []));
        if (!isTlsFault(last.end)) break;
        if (tls !== 'required') this.#brokenTls.set(hop.address, true);
      }
      if (last !== undefined && !hasReachedServer(last.end)) sources.giveBack(source);
      if (last !== undefined && !shouldTryNextHost(last.end)) break;
    }
    if (last !== undefined) return { ...last, sessionEnds };
    if (faults.length > 0)
      return withoutServer({
        kind: 'fault',
        stage: 'connect',
        fault: 'tls',
        text: faults.join('; '),
      });
    const text = 'all have reached today’s limit';
    return withoutServer({ kind: 'fault', stage: 'connect', fault: 'source', text });
  }

  /** RFC 8461 sections 4.1 and 5: an enforced policy excludes hosts that it doesn't list. */
  #refuseHop({ domain, finding: { policy } }: RoutedMail, hop: Hop): string | undefined {
    if (policy === undefined || policy.mode === 'none' || allowsHost(policy, hop.host))
      return undefined;
    if (policy.mode !== 'enforce') return undefined;
    const type = 'validation-failure';
    this.#dependencies.tally.count({ domain, policyType: 'sts', type, host: hop.host });
    return `the MTA-STS policy of ${domain} doesn’t list its MX host ${hop.host}`;
  }

  /**
   * Opportunistic TLS (RFC 3207, RFC 7435): encrypt if offered, without verification, and fall back to plaintext. A
   * policy requires verification (RFC 8461 section 5), and an enforced one allows no fallback.
   */
  #tlsUses({ finding: { policy } }: RoutedMail, hop: Hop): readonly TlsUse[] {
    if (policy?.mode === 'enforce') return ['required'];
    const broken = this.#brokenTls.has(hop.address);
    const open: readonly TlsUse[] = broken ? ['off'] : ['unverified', 'off'];
    return policy?.mode === 'testing' ? ['required', ...open] : open;
  }

  #transact(
    routed: RoutedMail,
    hop: Hop,
    source: Source,
    tls: TlsUse,
    work: (pool: SmtpPool) => Promise<TransactionResult>,
  ): Promise<TransactionResult> {
    // Domains on the same server share sessions unless their TLS rules differ.
    const rules = routed.finding.policy?.mode ?? 'none';
    const owner = rules === 'none' ? '' : routed.domain;
    const key = [hop.address, hop.host, source.address, tls, rules, owner].join(' ');
    const group = { name: routed.destination, maxConnections: routed.slot.connections };
    return this.#dependencies.pools.use(key, group, () => this.#makePool(hop, source, tls), work);
  }

  #makePool(hop: Hop, source: Source, tls: TlsUse): SmtpPool {
    const { port, timeouts, ca } = this.#dependencies;
    return new SmtpPool(
      {
        host: hop.address,
        port,
        implicitTls: false,
        tls,
        user: undefined,
        password: undefined,
        mechanism: undefined,
        connections: Number.POSITIVE_INFINITY,
        // Updated before each message.
        messagesPerConnection: Number.POSITIVE_INFINITY,
        ...(!hop.host.startsWith('[') && { serverName: hop.host }),
        ...(source.address !== undefined && { localAddress: source.address }),
        ...(ca !== undefined && { ca }),
      },
      { name: source.name, timeouts },
    );
  }

  #countSession(
    { domain, finding: { policy, fault } }: RoutedMail,
    { host }: Hop,
    tls: TlsUse,
    outcome: Parameters<OnConnect>[0],
  ): void {
    const found = tls === 'off' ? 'validation-failure' : readTlsResult(outcome);
    if (found === undefined) return;
    const bound = policy !== undefined && policy.mode !== 'none';
    const type = bound && !allowsHost(policy, host) ? 'validation-failure' : found;
    // RFC 8460 section 4.3.2: a policy that could not be fetched counts as a failure even if the session succeeded.
    if (fault !== undefined && (type === 'success' || !bound))
      this.#dependencies.tally.count({ domain, policyType: 'sts', type: fault, host: '' });
    else {
      const policyType = bound ? 'sts' : 'no-policy-found';
      this.#dependencies.tally.count({ domain, policyType, type, host });
    }
  }
}

/** The TLS result of a connection; undefined if it ended before TLS. */
function readTlsResult(outcome: Parameters<OnConnect>[0]): TlsResultType | undefined {
  if (!(outcome instanceof SmtpSessionError))
    return outcome.encrypted ? 'success' : 'starttls-not-supported';
  const { end } = outcome;
  return end.kind === 'fault' && end.fault === 'tls' ? classifyTlsFault(end.text) : undefined;
}

function isTlsFault(end: TransactionEnd): boolean {
  return end.kind === 'fault' && end.fault === 'tls' && end.stage === 'connect';
}

/**
 * RFC 5321 section 5.1: try another host if this one is unreachable. What a host says about the message is conclusive.
 */
function shouldTryNextHost(end: TransactionEnd): boolean {
  if (end.kind === 'fault') return end.stage === 'connect' || end.stage === 'mail';
  return end.kind === 'reply' && end.stage === 'connect';
}
