import type { ChangeListener } from '../foundation/change-listener.ts';
import type { Database, DatabaseTransaction } from '../foundation/database/open-database.ts';
import type { FairSlots } from '../foundation/fair-slots.ts';
import { type Actor, recordChange } from './actor.ts';
import { runLocked } from './run-locked.ts';

/** What changes are made with. A command has the database alone. */
interface ChangeContext {
  readonly database: Database;
  /** Changes wait here, by account, without a connection. */
  readonly changeSlots?: FairSlots;
  readonly changes?: Pick<ChangeListener, 'catchUp'>;
}

/** One thing that people decide about. */
export interface Resource<View> {
  /** What the audit log calls it, such as `sender`; the event is then `sender_changed`. */
  readonly kind: string;
  readonly id: string;
  /** What people see of it now; undefined where it is not there. */
  read(transaction: DatabaseTransaction): Promise<View | undefined>;
}

export interface ResourceChange<View> extends Resource<View> {
  /** It can be changed, but not made this way. */
  readonly mustExist?: boolean;
  /** Looks, before anything is written, whether it is as the caller expects; throws where it is not. */
  readonly precondition?: (before: View | undefined) => void;
  write(transaction: DatabaseTransaction, before: View | undefined): Promise<unknown>;
}

/** There is nothing to change. */
export class ResourceNotFound extends Error {
  override name = 'ResourceNotFound';
  /** As people call it. */
  readonly what: string;

  constructor(kind: string) {
    const what = kind.replaceAll('_', ' ');
    super(`There is no such ${what}`);
    this.what = what;
  }
}

/**
 * Creates or changes a thing: precondition, change and audit event are one commit. Changes of an account's settings follow one
 * another, also those of a manifest, so none is lost. The same change again changes nothing, and the audit log gets nothing.
 * @throws ResourceNotFound where it must be there and is not
 */
export function changeResource<View extends object>(
  context: ChangeContext,
  actor: Actor,
  change: ResourceChange<View>,
): Promise<{ readonly after: View; readonly created: boolean }> {
  return runChange(context, actor.accountId, async (transaction) => {
    const before = await change.read(transaction);
    change.precondition?.(before);
    if (before === undefined && change.mustExist === true) throw new ResourceNotFound(change.kind);
    await change.write(transaction, before);
    const after = await change.read(transaction);
    if (after === undefined) throw new Error(`a ${change.kind} is not there after it was written`);
    const created = before === undefined;
    if (created) await recordChange(transaction, actor, `${change.kind}_created`, change.id);
    else {
      const changed = changedMembers(before, after);
      if (changed.length > 0)
        await recordChange(transaction, actor, `${change.kind}_changed`, change.id, {
          changed: changed.join(', '),
        });
    }
    return { after, created };
  });
}

/** Which members changed, by name alone: what they hold may be personal. */
function changedMembers(before: object, after: object): string[] {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return Object.keys({ ...before, ...after }).filter(
    (name) => JSON.stringify(old.get(name)) !== JSON.stringify(now.get(name)),
  );
}

/**
 * Removes a thing.
 * @throws ResourceNotFound where it is not there
 */
export async function dropResource<View>(
  context: ChangeContext,
  actor: Actor,
  change: ResourceChange<View>,
): Promise<void> {
  await runChange(context, actor.accountId, async (transaction) => {
    const before = await change.read(transaction);
    if (before === undefined) throw new ResourceNotFound(change.kind);
    change.precondition?.(before);
    await change.write(transaction, before);
    await recordChange(transaction, actor, `${change.kind}_removed`, change.id);
  });
}

/**
 * Runs a change alone in its account (`run-locked.ts`). Once it resolves, this process works by the change: who asks for what
 * follows from it, such as a test of the template just published, gets that.
 * @throws Busy where too many changes of the account wait
 */
export async function runChange<Result>(
  { database, changeSlots, changes }: ChangeContext,
  accountId: string | undefined,
  work: (transaction: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  const run = () => runLocked(database, accountId, work);
  const result = await (changeSlots === undefined ? run() : changeSlots.run(accountId ?? '', run));
  await changes?.catchUp();
  return result;
}
