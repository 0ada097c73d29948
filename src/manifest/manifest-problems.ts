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
const mostProblems = 50;

/** Collects problems, so that one run names all of them. */
export class ProblemList {
  readonly #problems: ManifestProblem[] = [];
  readonly #locate: Locate;

  constructor(locate: Locate) {
    this.#locate = locate;
  }

  get isEmpty(): boolean {
    return this.#problems.length === 0;
  }

  add(path: ManifestPath, message: string): void {
    if (this.#problems.length >= mostProblems) return;
    this.#problems.push({ path: formatPath(path), line: this.#locate(path), message });
  }

  /** @throws ManifestError where there is any problem */
  throwIfAny(): void {
    if (!this.isEmpty) throw new ManifestError(this.#problems);
  }
}
