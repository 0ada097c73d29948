import { formatPath, type ManifestPath } from './manifest-path.ts';

/** Something in a manifest that cannot be used, for the person who wrote it. */
export interface ManifestProblem {
  /** Such as `accounts[0].senders[1].address`; empty for the file as a whole. */
  readonly path: string;
  /** Line of the manifest, counted from 1, where it is known. */
  readonly line: number | undefined;
  /** Goes on after the path: "is missing". Never contains a value of the manifest that may be secret. */
  readonly message: string;
}

/** A manifest that was not applied, with everything that is wrong with it; nothing was changed. */
export class ManifestError extends Error {
  override name = 'ManifestError';
  readonly problems: readonly ManifestProblem[];

  constructor(problems: readonly ManifestProblem[]) {
    super(problems.map((problem) => `${problem.path} ${problem.message}`.trim()).join('; '));
    this.problems = problems;
  }
}

/** Finds the line of a place in the manifest, or of the nearest place around it. */
export type Locate = (path: ManifestPath) => number | undefined;

/** Problems told apart at most; the rest would only repeat them. */
export const maxProblems = 50;

/**
 * Collects problems of all steps, so that one run names all of them. Where one step found a problem, later ones only find
 * what comes of it, so they are not heard about that place.
 */
export class ProblemCollector {
  readonly #problems: ManifestProblem[] = [];
  readonly #reportedBefore: ManifestPath[] = [];
  readonly #reportedNow: ManifestPath[] = [];
  readonly #locate: Locate;

  constructor(locate: Locate) {
    this.#locate = locate;
  }

  get isEmpty(): boolean {
    return this.#problems.length === 0;
  }

  add(path: ManifestPath, message: string): void {
    if (this.#problems.length >= maxProblems) return;
    if (this.#reportedBefore.some((reported) => isAtOrIn(reported, path))) return;
    this.#reportedNow.push(path);
    this.#problems.push({ path: formatPath(path), line: this.#locate(path), message });
  }

  /** Begins the next step. */
  nextStep(): void {
    this.#reportedBefore.push(...this.#reportedNow.splice(0));
  }

  /** @throws ManifestError where there is any problem */
  throwIfAny(): void {
    if (!this.isEmpty) throw this.toError();
  }

  toError(): ManifestError {
    return new ManifestError(this.#problems);
  }
}

function isAtOrIn(inner: ManifestPath, outer: ManifestPath): boolean {
  return outer.every((step, at) => inner[at] === step);
}
