import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { OperatorError } from '../../../base/values/errors.ts';

/** A local address that mail is sent from, with its hostname. */
export interface Source {
  /** Undefined: the system chooses. */
  readonly address: string | undefined;
  readonly family: 4 | 6 | undefined;
  /** Used in EHLO. Its address record and the address's PTR record should match. */
  readonly name: string;
  readonly pool: string;
}

export const defaultPool = 'default';

const sourcePattern = /^(?:([a-z0-9-]{1,40})\/)?([0-9a-f.:]+)=([a-z0-9.-]{1,253})$/i;

/**
 * Parses an entry of DIRECT_SOURCES: `203.0.113.5=mail1.example.com, bulk/2001:db8::6=mail2.example.com`.
 * @throws OperatorError if the entry is invalid
 */
export function parseSource(text: string): Source {
  const [, pool = defaultPool, address = '', name = ''] = sourcePattern.exec(text) ?? [];
  const family = isIP(address);
  if (family !== 4 && family !== 6)
    throw new OperatorError(
      `DIRECT_SOURCES must hold entries such as 203.0.113.5=mail1.example.com or pool/203.0.113.6=mail2.example.com, not "${text}".`,
    );
  return { address, family, name: name.toLowerCase(), pool: pool.toLowerCase() };
}

/**
 * The pools that a domain can use.
 * @param sources from DIRECT_SOURCES
 */
export function poolsOf(sources: readonly { readonly pool: string }[]): string[] {
  return [...new Set([defaultPool, ...sources.map(({ pool }) => pool)])];
}

/** Daily limits of source addresses. */
export interface SourceLimits {
  /** False if the source has reached today's limit. */
  mayUse(source: Source): boolean;
  used(source: Source): void;
  /** Undoes one `used` call. */
  unused(source: Source): void;
}

const noLimits: SourceLimits = {
  mayUse: () => true,
  used: () => undefined,
  unused: () => undefined,
};

export class SourcePools {
  readonly #sources: readonly Source[];
  readonly #limits: SourceLimits;

  /** @param given from the settings; if empty, the system chooses the address and `name` is used in EHLO */
  constructor(given: readonly Source[], name: string, limits: SourceLimits = noLimits) {
    this.#sources =
      given.length > 0
        ? given
        : [{ address: undefined, family: undefined, name, pool: defaultPool }];
    this.#limits = limits;
  }

  get all(): readonly Source[] {
    return this.#sources;
  }

  /** Address families that a pool can send from now. Empty if all its sources have reached today's limit. */
  families(pool: string | undefined): (4 | 6)[] {
    const sources = this.#ofPool(pool).filter((source) => this.#limits.mayUse(source));
    if (sources.some(({ family }) => family === undefined)) return hasGlobalIpv6() ? [4, 6] : [4];
    return ([6, 4] as const).filter((wanted) => sources.some(({ family }) => family === wanted));
  }

  /** Picks a random source of the pool for one transaction; undefined if none is available now. */
  choose(pool: string | undefined, family: 4 | 6, random: number): Source | undefined {
    const sources = this.#ofPool(pool).filter(
      (source) => (source.family ?? family) === family && this.#limits.mayUse(source),
    );
    const source = sources[Math.floor(random * sources.length)];
    if (source !== undefined) this.#limits.used(source);
    return source;
  }

  /** The chosen source wasn't used to reach a server. */
  giveBack(source: Source): void {
    this.#limits.unused(source);
  }

  /** Unknown pools fall back to the default, so that a typo doesn't block mail. */
  #ofPool(pool: string = defaultPool): readonly Source[] {
    const own = this.#sources.filter((source) => source.pool === pool);
    if (own.length > 0) return own;
    const common = this.#sources.filter((source) => source.pool === defaultPool);
    return common.length > 0 ? common : this.#sources;
  }
}

/** Addresses of this machine, as the system formats them. */
export function localAddresses(): Set<string> {
  const lists = Object.values(networkInterfaces());
  return new Set(lists.flatMap((list) => (list ?? []).map(({ address }) => address)));
}

function hasGlobalIpv6(): boolean {
  return Object.values(networkInterfaces()).some((list) =>
    list?.some(
      ({ family, internal, address }) => family === 'IPv6' && !internal && /^[23]/.test(address),
    ),
  );
}
