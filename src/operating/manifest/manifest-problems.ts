/** A path in a manifest: member names and list indexes from the top. */
export type ManifestPath = readonly (string | number)[];

/** Formats a path, such as `accounts[0].senders[1].address`; unusual names are quoted. */
export function formatPath(path: ManifestPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!/^[$\w]+$/.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

/** A problem in a manifest, for its author. */
export interface ManifestProblem {
  /** Such as `accounts[0].senders[1].address`; empty for the file as a whole. */
  readonly path: string;
  /** Line in the manifest, counted from 1, if known. */
  readonly line: number | undefined;
  /** Phrased to follow the path: "is required". Never contains values that may be secret. */
  readonly message: string;
}

/** A manifest that wasn't applied, with all its problems; nothing was changed. */
export class ManifestError extends Error {
  override name = 'ManifestError';
  readonly problems: readonly ManifestProblem[];

  constructor(problems: readonly ManifestProblem[]) {
    super(problems.map((problem) => `${problem.path} ${problem.message}`.trim()).join('; '));
    this.problems = problems;
  }
}

/** Finds the line of a path in the manifest, or of its nearest parent. */
export type Locate = (path: ManifestPath) => number | undefined;

/** Max problems reported. */
export const maxProblems = 50;

/**
 * Collects the problems of all steps, so one run reports all of them. Later steps can't add problems at a path where an
 * earlier one found some, because those would be consequences.
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

  /** Starts the next step. */
  nextStep(): void {
    this.#reportedBefore.push(...this.#reportedNow.splice(0));
  }

  /** @throws ManifestError if there are any problems */
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
