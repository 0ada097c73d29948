import { isDeepStrictEqual } from 'node:util';
import { Problem } from './answer/problem.ts';
import { type ManagementOperation, membersOf } from './operation.ts';

type Members = Readonly<Record<string, unknown>>;

/** Members of a body that only GET has, so that what GET gives can be put back. */
export class ReadOnlyMembers {
  readonly #names: ReadonlySet<string>;
  readonly #wrapper: string | undefined;
  /** GET has no member that can be written, so what it gives says nothing about what to write. */
  readonly #isDisjoint: boolean;

  constructor({ conditional, answer, body, bodyMember }: ManagementOperation) {
    const writable = membersOf(body);
    const shown = conditional === true && body !== undefined ? membersOf(answer) : {};
    const names = Object.keys(shown).filter((name) => !Object.hasOwn(writable, name));
    this.#names = new Set(names);
    this.#wrapper = bodyMember;
    this.#isDisjoint = bodyMember === undefined && names.length === Object.keys(shown).length;
  }

  /** Splits a body into what can be written and what can't. */
  split(body: unknown): SplitBody {
    if (this.#names.size === 0 || typeof body !== 'object' || body === null || Array.isArray(body))
      return { writable: body, readOnly: {}, writesNothing: false };
    const entries = Object.entries(body);
    const given = entries.filter(([name]) => this.#names.has(name));
    if (given.length === 0) return { writable: body, readOnly: {}, writesNothing: false };
    const isAll = given.length === entries.length;
    const wrapped = isAll && this.#wrapper !== undefined && Object.hasOwn(body, this.#wrapper);
    return {
      writable: wrapped
        ? (body as Members)[this.#wrapper ?? '']
        : Object.fromEntries(entries.filter(([name]) => !this.#names.has(name))),
      readOnly: Object.fromEntries(given.filter(([name]) => !wrapped || name !== this.#wrapper)),
      writesNothing: isAll && this.#isDisjoint,
    };
  }
}

interface SplitBody {
  readonly writable: unknown;
  readonly readOnly: Members;
  /** It is what GET gives, and no more. */
  readonly writesNothing: boolean;
}

/**
 * @param before the current view; undefined if the resource doesn't exist
 * @throws Problem that names the read-only members that the caller wants to change
 */
export function requireUnchanged(readOnly: Members, before: unknown): void {
  const names = Object.keys(readOnly);
  if (names.length === 0) return;
  const current: Members = JSON.parse(JSON.stringify(before ?? {}));
  const errors = names
    .filter((name) => !isDeepStrictEqual(readOnly[name], current[name]))
    .map((field) => ({
      field,
      reason: 'is read-only; omit it, or send the value that GET returned',
    }));
  const [first] = errors;
  if (first === undefined) return;
  throw new Problem('validation-failed', `${first.field} ${first.reason}`, { errors });
}
