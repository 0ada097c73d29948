import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { OperatorError } from '../../foundation/errors.ts';

/** An address of this machine that mail leaves from, and the name that goes with it. */
export interface Source {
  /** Undefined: the system chooses. */
  readonly address: string | undefined;
  readonly family: 4 | 6 | undefined;
  /** Said in EHLO; its address record and the address's PTR record should name each other. */
  readonly name: string;
  readonly pool: string;
}

export const defaultPool = 'default';

const sourcePattern = /^(?:([a-z0-9-]{1,40})\/)?([0-9a-f.:]+)=([a-z0-9.-]{1,253})$/i;

/**
 * Reads DIRECT_SOURCES: `203.0.113.5=mail1.example.com, bulk/2001:db8::6=mail2.example.com`.
 * @throws OperatorError for what is no source
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

/** The pools that a domain may use. @param sources of DIRECT_SOURCES */
export function poolsOf(sources: readonly { readonly pool: string }[]): string[] {
  return [...new Set([defaultPool, ...sources.map(({ pool }) => pool)])];
}

/** Shares of the day that sources have. */
export interface SourceLimits {
  /** False where a source has had its share. */
  mayUse(source: Source): boolean;
  used(source: Source): void;
  /** Takes a use back. */
  unused(source: Source): void;
}

const noLimits: SourceLimits = {
  mayUse: () => true,
  used: () => undefined,
  unused: () => undefined,
};

/** Source addresses by pool. */
export class SourcePools {
  readonly #sources: readonly Source[];
  readonly #limits: SourceLimits;

  /** @param given from the settings; none: the system chooses the address, and `name` greets */
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

  /** Address families that a pool can send from now. None where all its sources have had their share of the day. */
  families(pool: string | undefined): (4 | 6)[] {
    const sources = this.#ofPool(pool).filter((source) => this.#limits.mayUse(source));
    if (sources.some(({ family }) => family === undefined)) return hasGlobalIpv6() ? [4, 6] : [4];
    return ([6, 4] as const).filter((wanted) => sources.some(({ family }) => family === wanted));
  }

  /** A source for one transaction: those of a pool take turns by chance. Undefined where none may be used now. */
  choose(pool: string | undefined, family: 4 | 6, random: number): Source | undefined {
    const sources = this.#ofPool(pool).filter(
      (source) => (source.family ?? family) === family && this.#limits.mayUse(source),
    );
    const source = sources[Math.floor(random * sources.length)];
    if (source !== undefined) this.#limits.used(source);
    return source;
  }

  /** Nobody was spoken with from a source that was chosen. */
  giveBack(source: Source): void {
    this.#limits.unused(source);
  }

  /** An unknown pool is the default one: mail must not wait for a name that was misspelt. */
  #ofPool(pool: string = defaultPool): readonly Source[] {
    const own = this.#sources.filter((source) => source.pool === pool);
    if (own.length > 0) return own;
    const common = this.#sources.filter((source) => source.pool === defaultPool);
    return common.length > 0 ? common : this.#sources;
  }
}

/** Addresses of this machine, as the system spells them. */
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
