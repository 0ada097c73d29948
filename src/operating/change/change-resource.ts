import type { AuditChange } from '../../accounts/audit/audit-store.ts';
import type { ChangeListener } from '../../base/database/change-listener.ts';
import type { Database, DatabaseTransaction } from '../../base/database/open-database.ts';
import type { Limiter } from '../../base/fairness/limiter.ts';
import { type Actor, recordChange } from './actor.ts';
import { runLocked } from './change-lock-store.ts';

/** Dependencies of a change. Commands only have a database. */
interface ChangeContext {
  readonly database: Database;
  /** Queues changes per account, so that waiting ones hold no connection. */
  readonly changeSlots?: Pick<Limiter, 'run'>;
  readonly changes?: Pick<ChangeListener, 'catchUp'>;
}

/** A configurable resource, such as a sender. */
export interface Resource<View> {
  /** Its name in the audit log: `sender` gives `sender_changed`. */
  readonly kind: string;
  readonly id: string;
  /**
   * Members whose values are personal, secret or content: the audit log says only that they changed. It records the old and new
   * values of all others. If `name` isn't one, the log also says what was created or removed by name.
   */
  readonly unrecorded?: readonly (keyof View & string)[];
  /** What the audit log calls it; default: its `name`, if that is recorded. */
  readonly auditName?: (view: View) => string;
  /** False if it concerns only the person who changes it. Default: true. */
  readonly audited?: boolean;
  /** Its current view, as shown to users; undefined if it doesn't exist. */
  read(transaction: DatabaseTransaction): Promise<View | undefined>;
}

export interface ResourceChange<View> extends Resource<View> {
  /** Allows changes only, not creation. */
  readonly mustExist?: boolean;
  /** Members that the change writes and no view shows, such as a secret. */
  readonly writeOnly?: readonly string[];
  /** Runs before anything is written; throws if the resource isn't in the state that the caller expects. */
  readonly precondition?: (before: View | undefined) => void;
  write(transaction: DatabaseTransaction, before: View | undefined): Promise<unknown>;
}

/** The resource to change doesn't exist. */
export class ResourceNotFound extends Error {
  override name = 'ResourceNotFound';
  /** The kind in plain words, such as `api key`. */
  readonly what: string;

  constructor(kind: string) {
    const what = kind.replaceAll('_', ' ');
    super(`${what} not found`);
    this.what = what;
  }
}

/**
 * Creates or changes a resource; precondition, change and audit event are one commit. Changes in one account are serialized,
 * including those of a manifest. A change without effect isn't audited.
 * @throws ResourceNotFound if it must exist and doesn't
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
    if (after === undefined) throw new Error(`${change.kind} not found after writing it`);
    const created = before === undefined;
    if (change.audited === false) return { after, created };
    const named = nameOf(change, after);
    if (created) await recordChange(transaction, actor, `${change.kind}_created`, change.id, named);
    else {
      const changed = changedMembers(before, after);
      const names = [...changed.map(({ name }) => name), ...(change.writeOnly ?? [])];
      const unrecorded: readonly string[] = change.unrecorded ?? [];
      if (names.length > 0)
        await recordChange(transaction, actor, `${change.kind}_changed`, change.id, {
          ...named,
          changed: names.join(', '),
          changes: changed.filter(({ name }) => !unrecorded.includes(name)).map(shortened),
        });
    }
    return { after, created };
  });
}

/** The members that differ between two views, whatever they are. */
function changedMembers(before: object, after: object): AuditChange[] {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return Object.keys({ ...before, ...after })
    .map((name) => ({ name, from: old.get(name) ?? null, to: now.get(name) ?? null }))
    .filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
}

/** Characters recorded of a value; of one that isn't text, as JSON. */
const maxRecordedLength = 300;

function shortened({ name, from, to }: AuditChange): AuditChange {
  return { name, from: shortValue(from), to: shortValue(to) };
}

function shortValue(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > maxRecordedLength ? `${text.slice(0, maxRecordedLength)}…` : value;
}

/** The name of a resource, if it is recorded. */
function nameOf<View extends object>(
  { unrecorded, auditName }: Pick<Resource<View>, 'unrecorded' | 'auditName'>,
  view: View,
): { name?: string } {
  if (auditName !== undefined) return { name: auditName(view) };
  const { name } = view as { readonly name?: unknown };
  const isRecorded = !(unrecorded as readonly string[] | undefined)?.includes('name');
  return isRecorded && typeof name === 'string' ? { name } : {};
}

/**
 * Removes a resource.
 * @throws ResourceNotFound if it doesn't exist
 */
export async function dropResource<View extends object>(
  context: ChangeContext,
  actor: Actor,
  change: ResourceChange<View>,
): Promise<void> {
  await runChange(context, actor.accountId, async (transaction) => {
    const before = await change.read(transaction);
    if (before === undefined) throw new ResourceNotFound(change.kind);
    change.precondition?.(before);
    await change.write(transaction, before);
    if (change.audited !== false)
      await recordChange(
        transaction,
        actor,
        `${change.kind}_removed`,
        change.id,
        nameOf(change, before),
      );
  });
}

/**
 * Runs a change under its account's lock (`run-locked.ts`). When it resolves, this process's caches are up to date, so that
 * a test send right after publishing uses the new template.
 * @throws Busy if too many changes of the account are waiting
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
