/** One value of a request that cannot be used. */
interface ApiFieldError {
  readonly field: string;
  readonly reason: string;
}

/** What the management API answered instead of what was asked for (RFC 9457). */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  /** The last part of the problem's type, such as `validation-failed`. */
  readonly code: string;
  readonly title: string;
  readonly errors: readonly ApiFieldError[];
  readonly requestId: string | undefined;
  /** All members of the answer. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Fields of the form that say themselves what is wrong with them. */
  readonly #shownFields = new Set<string>();

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(typeof body.detail === 'string' ? body.detail : String(body.title ?? status));
    this.status = status;
    this.code = typeof body.type === 'string' ? (body.type.split('/').at(-1) ?? '') : '';
    this.title = typeof body.title === 'string' ? body.title : '';
    this.errors = Array.isArray(body.errors) ? body.errors : [];
    this.requestId = typeof body.requestId === 'string' ? body.requestId : undefined;
    this.body = body;
  }

  /** What is wrong with one value, for its field to say; undefined where nothing is. */
  reasonFor(field: string): string | undefined {
    const found = this.errors.find((entry) => entry.field === field);
    if (found !== undefined) this.#shownFields.add(field);
    return found?.reason;
  }

  /** Whether fields say all that is wrong. They are drawn before what stands below them asks for this. */
  get isShownAtFields(): boolean {
    return this.errors.length > 0 && this.errors.every(({ field }) => this.#shownFields.has(field));
  }
}

/** A refusal of the console's own, for what cannot even be asked. */
export function localProblem(field: string, reason: string): ApiProblem {
  return new ApiProblem(422, { title: reason, errors: [{ field, reason }] });
}

/** What is wrong with one value of the request that failed with this error. */
export function reasonFor(error: unknown, field: string): string | undefined {
  return error instanceof ApiProblem ? error.reasonFor(field) : undefined;
}
