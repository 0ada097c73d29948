import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type { Dns, DnsAnswer, DnsType } from './dns-answer.ts';

/** Max time to live, one day. */
const maxTtlSeconds = 86_400;
/** Failures are cached briefly, so a queue full of a failing domain doesn't trigger a query per message. */
const faultTtlSeconds = 5;

/** Caches answers for their time to live and coalesces concurrent identical queries. */
export class DnsCache implements Dns {
  readonly #dns: Dns;
  readonly #answers: LRUCache<string, DnsAnswer<DnsType>>;
  readonly #pending = new Map<string, Promise<DnsAnswer<DnsType>>>();

  constructor(dns: Dns, clock: Clock, maxEntries = 20_000) {
    this.#dns = dns;
    this.#answers = new LRUCache({ max: maxEntries, ttlResolution: 0, perf: clock });
  }

  async lookUp<Type extends DnsType>(name: string, type: Type): Promise<DnsAnswer<Type>> {
    const key = `${type} ${name.toLowerCase()}`;
    const cached = this.#answers.get(key);
    if (cached !== undefined) return cached as DnsAnswer<Type>;
    const answer = await (this.#pending.get(key) ?? this.#query(key, name, type));
    return answer as DnsAnswer<Type>;
  }

  #query(key: string, name: string, type: DnsType): Promise<DnsAnswer<DnsType>> {
    const pending = this.#dns
      .lookUp(name, type)
      .then((answer) => {
        this.#store(key, answer);
        return answer;
      })
      .finally(() => this.#pending.delete(key));
    this.#pending.set(key, pending);
    return pending;
  }

  #store(key: string, answer: DnsAnswer<DnsType>): void {
    const seconds = answer.kind === 'fault' ? faultTtlSeconds : Math.min(answer.ttl, maxTtlSeconds);
    if (seconds > 0) this.#answers.set(key, answer, { ttl: seconds * 1_000 });
    else this.#answers.delete(key);
  }
}
