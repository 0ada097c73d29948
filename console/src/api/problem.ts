/** An invalid value of a request. */
interface ApiFieldError {
  readonly field: string;
  readonly reason: string;
}

/** An error response of the management API (RFC 9457). */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  /** The last part of the problem's type, such as `validation-failed`. */
  readonly code: string;
  readonly title: string;
  readonly errors: readonly ApiFieldError[];
  readonly requestId: string | undefined;
  /** All members of the response. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Form fields that show their own error. */
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

  /** The error of a field, to be shown there; undefined if it is valid. */
  reasonFor(field: string): string | undefined {
    const found = this.errors.find((entry) => entry.field === field);
    if (found !== undefined) this.#shownFields.add(field);
    return found && asSentence(found.reason);
  }

  /** Whether fields show all errors. Works because fields render before the alert below them. */
  get isShownAtFields(): boolean {
    return this.errors.length > 0 && this.errors.every(({ field }) => this.#shownFields.has(field));
  }
}

/** A reason of the API, which follows the name of a field there, as a sentence of its own. */
export function asSentence(reason: string): string {
  const whole = reason.replace(/^(?=(?:is|isn’t|has|must|can’t|would)\b)/, 'this ');
  return whole.charAt(0).toUpperCase() + whole.slice(1) + (/[.!?:…]$/.test(whole) ? '' : '.');
}

export function isNotFound(error: unknown): error is ApiProblem {
  return error instanceof ApiProblem && error.status === 404;
}

/** A client-side error, for input that can't be sent. */
export function localProblem(field: string, reason: string): ApiProblem {
  return new ApiProblem(422, { title: reason, errors: [{ field, reason }] });
}

/** The error of a single value of the failed request. */
export function reasonFor(error: unknown, field: string): string | undefined {
  return error instanceof ApiProblem ? error.reasonFor(field) : undefined;
}
