import { text } from '../texts/text.ts';
import { answerOf, ifMatch, type Precondition, type Result, taggedAnswerOf } from './management.ts';
import { ApiProblem, localProblem } from './problem.ts';

/** A changed member, with the value the person saw and the current one. */
export interface MemberChange {
  readonly name: string;
  readonly seen: unknown;
  readonly now: unknown;
}

/** Someone else changed the resource since the person loaded it. */
export class EditConflict extends ApiProblem {
  readonly changes: readonly MemberChange[];
  /** The resource as it is now. */
  readonly current: object;

  constructor(changes: readonly MemberChange[], current: object) {
    super(412, { title: text('problem.changed') });
    this.changes = changes;
    this.current = current;
  }
}

/**
 * Changes or removes a resource only if it hasn't changed since the person loaded it. Reads it again, because the page
 * may be hours old, and sends its ETag in `If-Match`.
 * @param seen the data shown to the person
 * @throws EditConflict if someone else changed it
 */
export async function ifUnchanged<Thing extends object, Answer>(
  seen: Partial<Thing>,
  read: () => Promise<Result<Thing>>,
  change: (precondition: Precondition) => Promise<Result<Answer>>,
): Promise<Answer> {
  const { value, tag } = await taggedAnswerOf(read());
  requireUnchanged(seen, value);
  try {
    return await answerOf(change(ifMatch(tag)));
  } catch (error) {
    if (isStale(error)) requireUnchanged(seen, await answerOf(read()));
    throw error;
  }
}

/**
 * Creates a resource if its id is free.
 * @param field form field of the id
 * @throws ApiProblem for that field if the id is taken
 */
export async function createNew<Answer>(
  field: string,
  create: (precondition: Precondition) => Promise<Result<Answer>>,
): Promise<Answer> {
  try {
    return await answerOf(create({ headers: { 'if-none-match': '*' } }));
  } catch (error) {
    if (isStale(error)) throw localProblem(field, text('problem.exists'));
    throw error;
  }
}

/** Whether the request failed because the resource has changed. */
export function isStale(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 412;
}

function requireUnchanged<Thing extends object>(seen: Partial<Thing>, now: Thing): void {
  const changes = Object.entries(seen)
    .map(([name, value]) => ({ name, seen: value, now: now[name as keyof Thing] as unknown }))
    .filter((change) => JSON.stringify(change.seen) !== JSON.stringify(change.now));
  if (changes.length > 0) throw new EditConflict(changes, now);
}
