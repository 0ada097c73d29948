import { text } from '../texts/text.ts';
import { answerOf, ifMatch, type Precondition, type Result, taggedAnswerOf } from './management.ts';
import { ApiProblem, localProblem } from './problem.ts';

/** One member of a thing as the person saw it, and as it is. */
export interface MemberChange {
  readonly name: string;
  readonly seen: unknown;
  readonly now: unknown;
}

/** Somebody else changed the thing since the person saw it. */
export class EditConflict extends ApiProblem {
  readonly changes: readonly MemberChange[];

  constructor(changes: readonly MemberChange[]) {
    super(412, { title: text('problem.changed') });
    this.changes = changes;
  }
}

/**
 * Changes or removes a thing only where it is what the person decided about. It is read once more, since a page may be
 * hours old; its tag (`If-Match`) then guards it from that moment on.
 * @param seen what the decision rests on, as the page shows it
 * @throws ChangedMeanwhile where somebody else was faster
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
 * Makes a thing where there is none of its id.
 * @param field names the id in the form
 * @throws ApiProblem at the field where the id is taken
 */
export async function createNew<Answer>(
  field: string,
  create: (precondition: Precondition) => Promise<Result<Answer>>,
): Promise<Answer> {
  try {
    return await answerOf(create({ headers: { 'if-none-match': '*' } }));
  } catch (error) {
    if (isStale(error)) throw localProblem(field, text('problem.taken'));
    throw error;
  }
}

/** Whether it was refused because the thing is not as it was read. */
export function isStale(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 412;
}

function requireUnchanged<Thing extends object>(seen: Partial<Thing>, now: Thing): void {
  const changes = Object.entries(seen)
    .map(([name, value]) => ({ name, seen: value, now: now[name as keyof Thing] as unknown }))
    .filter((change) => JSON.stringify(change.seen) !== JSON.stringify(change.now));
  if (changes.length > 0) throw new EditConflict(changes);
}
