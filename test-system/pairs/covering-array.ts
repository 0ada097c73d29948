/** An option: its values, and what can't be together. */
interface CoveredOption {
  readonly values: readonly string[];
  /** Values after which the other options have no effect; a case with one covers only pairs of that value. */
  readonly ending?: readonly string[] | undefined;
  /** By value: what it excludes, by option. */
  readonly excludes?:
    | Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
    | undefined;
}

export type CoveredOptions = Readonly<Record<string, CoveredOption>>;

/** A value of each option. */
export type CoveringCase = Readonly<Record<string, string>>;

/** Values that one case must have together. */
type Combination = readonly (readonly [option: string, value: string])[];

/** Completions that are tried for each case, of which the one with the most new combinations is taken. */
const candidates = 8;

/**
 * Cases in which each pair of values occurs, and each triple of the options in `inTriples`, unless they exclude each other. Greedy:
 * each case begins with a combination that is missing, and gets the values that add the most others.
 * @param seed the same seed gives the same cases
 */
export function coverPairs(
  options: CoveredOptions,
  inTriples: readonly string[],
  seed: number,
): CoveringCase[] {
  const random = randomOf(seed);
  const space = new OptionSpace(options);
  const missing = new Set(space.combinations(inTriples));
  const byValue = Map.groupBy(
    [...missing].flatMap((combination) => combination.map((value) => ({ combination, value }))),
    ({ value }) => String(value),
  );
  const gainOf = (part: CoveringCase, added: string): number =>
    (byValue.get(String([added, part[added]])) ?? []).filter(
      ({ combination }) => missing.has(combination) && space.covers(part, combination),
    ).length;
  const cases: CoveringCase[] = [];
  for (const combination of missing) {
    let best:
      | { readonly found: CoveringCase; readonly covered: readonly Combination[] }
      | undefined;
    for (let candidate = 0; candidate < candidates; candidate += 1) {
      const found = space.complete(combination, random, gainOf);
      // Its values exclude each other by way of a third option.
      if (found === undefined) break;
      const covered = [...missing].filter((other) => space.covers(found, other));
      if (covered.length > (best?.covered.length ?? 0)) best = { found, covered };
    }
    if (best !== undefined) cases.push(best.found);
    for (const other of best?.covered ?? [combination]) missing.delete(other);
  }
  return cases;
}

/** The combinations that a set of cases must cover. */
export class OptionSpace {
  readonly #options: CoveredOptions;
  readonly #names: readonly string[];

  constructor(options: CoveredOptions) {
    this.#options = options;
    this.#names = Object.keys(options);
  }

  /** All pairs, and the triples of some options, whose values don't exclude each other. */
  combinations(inTriples: readonly string[]): Combination[] {
    const pairs = this.#names.flatMap((one, index) =>
      this.#names.slice(index + 1).map((other) => [one, other]),
    );
    const triples = pairs
      .filter((pair) => pair.every((name) => inTriples.includes(name)))
      .flatMap(([one = '', other = '']) =>
        inTriples
          .filter((third) => this.#names.indexOf(third) > this.#names.indexOf(other))
          .map((third) => [one, other, third]),
      );
    return [...triples, ...pairs]
      .flatMap((names) => this.#valuesOf(names))
      .filter((combination) => this.isAllowed(Object.fromEntries(combination)));
  }

  #valuesOf([name, ...others]: readonly string[]): Combination[] {
    if (name === undefined) return [[]];
    const rest = this.#valuesOf(others);
    return this.#option(name).values.flatMap((value) =>
      rest.map((more): Combination => [[name, value], ...more]),
    );
  }

  /** False if values exclude each other, or two of them end a message in different ways. */
  isAllowed(values: CoveringCase): boolean {
    const names = Object.keys(values);
    if (names.filter((name) => this.#isEnding(name, values[name])).length > 1) return false;
    return names.every((name) => {
      const excluded = this.#option(name).excludes?.[values[name] ?? ''] ?? {};
      return Object.entries(excluded).every(
        ([other, refused]) => !refused.includes(values[other] ?? ''),
      );
    });
  }

  /** True if a case, or part of one, tests the combination. */
  covers(values: CoveringCase, combination: Combination): boolean {
    if (!combination.every(([name, value]) => values[name] === value)) return false;
    const ending = Object.keys(values).find((name) => this.#isEnding(name, values[name]));
    return ending === undefined || combination.some(([name]) => name === ending);
  }

  /**
   * A whole case with the combination.
   * @param gainOf how good a part of a case is whose value for an option was just added
   * @returns undefined if there is none
   */
  complete(
    combination: Combination,
    random: () => number,
    gainOf: (part: CoveringCase, added: string) => number,
  ): CoveringCase | undefined {
    const given = Object.fromEntries(combination);
    const open = shuffled(
      this.#names.filter((name) => !Object.hasOwn(given, name)),
      random,
    );
    const grow = (
      part: CoveringCase,
      [name, ...rest]: readonly string[],
    ): CoveringCase | undefined => {
      if (name === undefined) return part;
      const grown = shuffled(this.#option(name).values, random)
        .filter((value) => !this.#isEnding(name, value))
        .map((value) => ({ ...part, [name]: value }))
        .filter((one) => this.isAllowed(one))
        .map((one) => ({ one, gain: gainOf(one, name) }))
        .sort((one, other) => other.gain - one.gain);
      for (const { one } of grown) {
        const whole = grow(one, rest);
        if (whole !== undefined) return whole;
      }
      return undefined;
    };
    return this.isAllowed(given) ? grow(given, open) : undefined;
  }

  #option(name: string): CoveredOption {
    const option = this.#options[name];
    if (option === undefined) throw new Error(`no option ${name}`);
    return option;
  }

  #isEnding(name: string, value: string | undefined): boolean {
    return value !== undefined && this.#option(name).ending?.includes(value) === true;
  }
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => [random(), item] as const)
    .sort(([one], [other]) => one - other)
    .map(([, item]) => item);
}

/** Numbers from 0 to 1 that look random (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
