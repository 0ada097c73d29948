import type { StsFinding } from '../mta-sts/sts-policies.ts';
import { allowsHost } from '../mta-sts/sts-policy.ts';
import { SmtpPool } from '../smtp-pool.ts';
import type { TlsUse } from '../smtp-server-settings.ts';
import type { NoSession, SmtpTimeouts } from '../smtp-session.ts';
import { nameTlsFault, type TlsResultType, type TlsTally } from '../tls-report/tls-result.ts';
import type { OutgoingMail, TransactionEnd, TransactionResult } from '../transport.ts';
import type { HopPools } from './hop-pools.ts';
import type { Hop } from './plan-route.ts';
import type { Source, SourcePools } from './source-pools.ts';

export interface RouteSenderParts {
  readonly sources: SourcePools;
  readonly pools: HopPools;
  readonly tally: TlsTally;
  readonly port: number;
  readonly timeouts: Partial<SmtpTimeouts>;
  /** Authorities to trust instead of the usual ones. */
  readonly ca?: string | undefined;
}

/** One transaction to make with a domain. */
export interface RoutedMail {
  readonly domain: string;
  readonly hops: readonly Hop[];
  readonly finding: StsFinding;
  readonly pool: string | undefined;
  readonly messagesPerConnection: number;
  readonly destination: string;
  /** Connections that may be open with the destination, those that rest included. */
  readonly connections: number;
}

/** A server whose TLS is broken is spoken with in clear for this long before TLS is tried again. */
const brokenTlsMilliseconds = 3_600_000;
const mostBroken = 10_000;

/** Tries the servers of a domain in order, each with the TLS that is asked of it, until one has an answer that counts. */
export class RouteSender {
  readonly #parts: RouteSenderParts;
  readonly #brokenTls = new Map<string, number>();

  constructor(parts: RouteSenderParts) {
    this.#parts = parts;
  }

  /** Makes one transaction; see `Transport.send`. */
  async send(
    routed: RoutedMail,
    mail: OutgoingMail,
    releaseDot: () => Promise<boolean>,
    stopping: AbortSignal,
  ): Promise<TransactionResult> {
    const faults: string[] = [];
    let last: TransactionResult | undefined;
    this.#countFetchFault(routed);
    for (const hop of routed.hops) {
      if (stopping.aborted) return nothing({ kind: 'stopped' });
      const refusal = this.#refuseHop(routed, hop);
      if (refusal !== undefined) {
        faults.push(refusal);
        continue;
      }
      const source = this.#parts.sources.choose(routed.pool, hop.family, Math.random());
      if (source === undefined) continue;
      for (const tls of this.#tlsUses(routed, hop)) {
        last = await this.#speak(routed, hop, source, tls, (pool) =>
          pool.send(mail, releaseDot, stopping),
        );
        if (!isTlsFault(last.end)) break;
        if (tls !== 'required') this.#rememberBroken(hop);
      }
      if (last?.end.kind === 'fault' && last.end.stage === 'connect')
        this.#parts.sources.giveBack(source);
      if (last !== undefined && !asksForAnother(last.end)) return last;
    }
    if (last !== undefined) return last;
    if (faults.length > 0)
      return nothing({ kind: 'fault', stage: 'connect', fault: 'tls', text: faults.join('; ') });
    const text = 'they have had their messages of today';
    return nothing({ kind: 'fault', stage: 'connect', fault: 'source', text });
  }

  /** RFC 8461 section 4.1 and 5: a host that the policy does not name gets no mail where it is enforced. */
  #refuseHop({ domain, finding: { policy } }: RoutedMail, hop: Hop): string | undefined {
    if (policy === undefined || policy.mode === 'none' || allowsHost(policy, hop.host))
      return undefined;
    this.#parts.tally.count({
      domain,
      policyType: 'sts',
      type: 'validation-failure',
      host: hop.host,
    });
    if (policy.mode !== 'enforce') return undefined;
    return `the MTA-STS policy of ${domain} does not name its MX host ${hop.host}`;
  }

  /**
   * RFC 3207 as RFC 7435 reads it: encrypted where it is offered, to whoever answers, and in clear rather than not at all;
   * verified only where a policy asks for it (RFC 8461 section 5), and without a way around it where it is enforced.
   */
  #tlsUses({ finding: { policy } }: RoutedMail, hop: Hop): readonly TlsUse[] {
    if (policy?.mode === 'enforce') return ['required'];
    const broken = (this.#brokenTls.get(hop.address) ?? 0) > performance.now();
    const open: readonly TlsUse[] = broken ? ['off'] : ['unverified', 'off'];
    return policy?.mode === 'testing' ? ['required', ...open] : open;
  }

  #rememberBroken(hop: Hop): void {
    if (this.#brokenTls.size >= mostBroken) this.#brokenTls.clear();
    this.#brokenTls.set(hop.address, performance.now() + brokenTlsMilliseconds);
  }

  #speak(
    routed: RoutedMail,
    hop: Hop,
    source: Source,
    tls: TlsUse,
    work: (pool: SmtpPool) => Promise<TransactionResult>,
  ): Promise<TransactionResult> {
    // Sessions are shared by domains of one server, but not by those with other rules for TLS.
    const rules = routed.finding.policy?.mode ?? 'none';
    const counted = rules === 'none' ? '' : routed.domain;
    const key = [hop.address, hop.host, source.address, tls, rules, counted].join(' ');
    const group = { name: routed.destination, most: routed.connections };
    return this.#parts.pools.use(key, group, () => this.#makePool(routed, hop, source, tls), work);
  }

  #makePool(routed: RoutedMail, hop: Hop, source: Source, tls: TlsUse): SmtpPool {
    const { port, timeouts, ca } = this.#parts;
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
        messagesPerConnection: routed.messagesPerConnection,
        ...(!hop.host.startsWith('[') && { serverName: hop.host }),
        ...(source.address !== undefined && { localAddress: source.address }),
        ...(ca !== undefined && { ca }),
      },
      {
        name: source.name,
        timeouts,
        onOpen: (encrypted) => {
          if (encrypted) this.#count(routed, hop, 'success');
          else if (tls === 'unverified') this.#count(routed, hop, 'starttls-not-supported');
        },
        onFault: (error: NoSession) => {
          const { end } = error;
          if (end.kind === 'fault' && end.fault === 'tls')
            this.#count(routed, hop, nameTlsFault(end.text));
        },
      },
    );
  }

  #count({ domain, finding }: RoutedMail, hop: Hop, type: TlsResultType): void {
    const policyType = finding.policy === undefined ? 'no-policy-found' : 'sts';
    this.#parts.tally.count({ domain, policyType, type, host: hop.host });
  }

  #countFetchFault({ domain, finding }: RoutedMail): void {
    if (finding.fault === undefined) return;
    this.#parts.tally.count({ domain, policyType: 'sts', type: finding.fault, host: '' });
  }
}

function nothing(end: TransactionEnd): TransactionResult {
  return { refused: new Map(), end, server: '', transcript: [] };
}

function isTlsFault(end: TransactionEnd): boolean {
  return end.kind === 'fault' && end.fault === 'tls' && end.stage === 'connect';
}

/** RFC 5321 section 5.1: another host is for when one cannot be spoken with; what one says about the message counts. */
function asksForAnother(end: TransactionEnd): boolean {
  if (end.kind === 'fault') return end.stage === 'connect' || end.stage === 'mail';
  return end.kind === 'reply' && end.stage === 'connect';
}
