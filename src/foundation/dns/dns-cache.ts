import type { Clock } from '../clock.ts';
import type { Dns, DnsAnswer, DnsType } from './dns-answer.ts';

interface Entry {
  readonly answer: DnsAnswer<DnsType>;
  readonly until: number;
}

/** No answer is kept longer than a day, whatever its time to live says. */
const longest = 86_400;
/** A domain whose resolvers fail is left alone for a moment, so that a queue full of it does not ask them for each message. */
const faultSeconds = 5;

/** Keeps answers for their time to live, and lets those who ask the same at the same time share one question. */
export class DnsCache implements Dns {
  readonly #dns: Dns;
  readonly #clock: Clock;
  readonly #most: number;
  readonly #entries = new Map<string, Entry>();
  readonly #asking = new Map<string, Promise<DnsAnswer<DnsType>>>();

  constructor(dns: Dns, clock: Clock, most = 20_000) {
    this.#dns = dns;
    this.#clock = clock;
    this.#most = most;
  }

  async lookUp<Type extends DnsType>(name: string, type: Type): Promise<DnsAnswer<Type>> {
    const key = `${type} ${name.toLowerCase()}`;
    const entry = this.#entries.get(key);
    if (entry !== undefined && this.#clock.now() < entry.until)
      return entry.answer as DnsAnswer<Type>;
    const answer = await (this.#asking.get(key) ?? this.#ask(key, name, type));
    return answer as DnsAnswer<Type>;
  }

  #ask(key: string, name: string, type: DnsType): Promise<DnsAnswer<DnsType>> {
    const asking = this.#dns
      .lookUp(name, type)
      .then((answer) => {
        this.#keep(key, answer);
        return answer;
      })
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  #keep(key: string, answer: DnsAnswer<DnsType>): void {
    const seconds = answer.kind === 'fault' ? faultSeconds : Math.min(answer.ttl, longest);
    this.#entries.delete(key);
    if (seconds <= 0) return;
    if (this.#entries.size >= this.#most) {
      const oldest = this.#entries.keys().next().value;
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    this.#entries.set(key, { answer, until: this.#clock.now() + seconds * 1_000 });
  }
}
