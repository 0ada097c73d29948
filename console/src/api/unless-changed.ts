import { text } from '../texts/text.ts';
import { answerOf, ifMatch, type Precondition, type Result, taggedAnswerOf } from './management.ts';
import { ApiProblem, refusal } from './problem.ts';

/** One member of a thing as the person saw it, and as it is. */
export interface MemberChange {
  readonly name: string;
  readonly seen: unknown;
  readonly now: unknown;
}

/** Somebody else changed the thing since the person saw it. */
export class ChangedMeanwhile extends ApiProblem {
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
export async function unlessChanged<Thing extends object, Answer>(
  seen: Partial<Thing>,
  read: () => Promise<Result<Thing>>,
  change: (precondition: Precondition) => Promise<Result<Answer>>,
): Promise<Answer> {
  const { value, tag } = await taggedAnswerOf(read());
  requireSame(seen, value);
  try {
    return await answerOf(change(ifMatch(tag)));
  } catch (error) {
    if (isStale(error)) requireSame(seen, await answerOf(read()));
    throw error;
  }
}

/**
 * Makes a thing where there is none of its id.
 * @param field names the id in the form
 * @throws ApiProblem at the field where the id is taken
 */
export async function makeNew<Answer>(
  field: string,
  make: (precondition: Precondition) => Promise<Result<Answer>>,
): Promise<Answer> {
  try {
    return await answerOf(make({ headers: { 'if-none-match': '*' } }));
  } catch (error) {
    if (isStale(error)) throw refusal(field, text('problem.taken'));
    throw error;
  }
}

/** Whether it was refused because the thing is not as it was read. */
export function isStale(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 412;
}

function requireSame<Thing extends object>(seen: Partial<Thing>, now: Thing): void {
  const changes = Object.entries(seen)
    .map(([name, value]) => ({ name, seen: value, now: now[name as keyof Thing] as unknown }))
    .filter((change) => JSON.stringify(change.seen) !== JSON.stringify(change.now));
  if (changes.length > 0) throw new ChangedMeanwhile(changes);
}
