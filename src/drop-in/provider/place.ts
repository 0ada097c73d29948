import type { Fault, FaultDetail } from '../../base/values/errors.ts';
import { isObject } from '../../base/values/is-object.ts';
import { unusableFields } from '../../sending/submission/describe-body-problems.ts';

/** A request with problems, of which the first ones are named, each once. */
export function invalidMembers(details: readonly FaultDetail[]): Fault {
  const distinct = new Map(details.map((detail) => [`${detail.field} ${detail.reason}`, detail]));
  return unusableFields([...distinct.values()]);
}

/** A request with one problem. */
export function invalidMember(field: string, reason: string): Fault {
  return invalidMembers([{ field, reason }]);
}

/** Where a value of a request is, for what is wrong with it. */
export class Place {
  /** As errors name it: `attachments[0].filename`. */
  readonly field: string;
  readonly details: FaultDetail[];

  /** @param details gets the problems */
  constructor(field = '', details: FaultDetail[] = []) {
    this.field = field;
    this.details = details;
  }

  /** A place in this one. @param more such as `[0]` or `.name` */
  at(more: string): Place {
    return new Place(this.field + more, this.details);
  }

  /** Adds a problem. @param more of its place */
  refuse(reason: string, more = ''): undefined {
    this.details.push({ field: this.field + more, reason });
  }

  refuseIf(isWrong: unknown, reason: string, more?: string): undefined {
    if (isWrong) this.refuse(reason, more);
  }

  /** @throws Fault VALIDATION_FAILED if there is a problem */
  end(): void {
    if (this.details.length > 0) throw invalidMembers(this.details);
  }
}

/**
 * A number of a query.
 * @throws Fault VALIDATION_FAILED
 */
export function readNumber(
  [name, text]: readonly [name: string, text: string | null | undefined],
  [min, max]: readonly [min: number, max: number],
  fallback: number,
): number {
  if (text === null || text === undefined || text === '') return fallback;
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw invalidMember(name, `must be a number from ${min} to ${max}`);
}

/** An object in JSON. It's a problem if it's something else. */
export function readObject(json: string, place: Place): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    if (isObject(value)) return { ...value };
  } catch {
    // Not an object either.
  }
  place.refuse('must be a JSON object');
  return {};
}
