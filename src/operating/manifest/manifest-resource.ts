import { isDeepStrictEqual } from 'node:util';
import type { DatabaseTransaction } from '../../base/database/open-database.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { ManifestAccount, ManifestSection } from './manifest.ts';
import type { AccountPlanContext, ManifestChange, Plan, PlannedChange } from './manifest-change.ts';
import type { ManifestPath } from './manifest-problems.ts';
import type { BuildContext } from './read-values.ts';

/** An entry of a manifest, with its place. */
export interface Placed {
  readonly path: ManifestPath;
}

/**
 * A kind of resource that manifests have: how its entries are read, compared and stored.
 * @typeParam Raw an entry as in the file
 * @typeParam Entry a valid one
 * @typeParam Stored what the database has
 */
export interface ManifestResource<Raw, Entry extends Placed, Stored> {
  readonly kind: ManifestChange['kind'];
  /** The member that identifies it. */
  readonly key: keyof Entry & keyof Stored;
  /** Converts an entry that fits the schema, and collects its problems. */
  build(raw: Raw, path: ManifestPath, context: BuildContext): Entry | Promise<Entry>;
  read(transaction: DatabaseTransaction, accountId: AccountId): Promise<readonly Stored[]>;
  /** @returns undefined if a problem was added */
  plan(
    entry: Entry,
    before: Stored | undefined,
    context: AccountPlanContext,
  ): Plan | undefined | Promise<Plan | undefined>;
}

/** A resource that accounts have a list of. */
export interface Section<Raw, Entry extends Placed, Stored>
  extends ManifestResource<Raw, Entry, Stored> {
  readonly name: ManifestSection;
  /** False for what a manifest can't contain, which is never removed. Default: all can be. */
  canName?(stored: Stored): boolean;
  remove(transaction: DatabaseTransaction, accountId: AccountId, stored: Stored): Promise<unknown>;
}

/** Plans entries. @returns their changes, and what they don't name */
export async function planEntries<Entry extends Placed, Stored>(
  { kind, key, ...resource }: ManifestResource<never, Entry, Stored>,
  entries: readonly Entry[],
  context: AccountPlanContext,
): Promise<{ readonly changes: PlannedChange[]; readonly unnamed: Iterable<Stored> }> {
  const { accountId: account, transaction } = context;
  const existing = new Map<string, Stored>();
  for (const stored of await resource.read(transaction, account))
    existing.set(String(stored[key]), stored);
  const changes: PlannedChange[] = [];
  for (const entry of entries) {
    const id = String(entry[key]);
    const plan = await resource.plan(entry, existing.get(id), context);
    existing.delete(id);
    if (plan !== undefined) changes.push({ account, kind, id, path: entry.path, ...plan });
  }
  return { changes, unnamed: existing.values() };
}

/** Plans the entries of a section, and with prune removes what the manifest doesn't name, unless it omits the section. */
export async function planSection<Entry extends Placed, Stored>(
  section: Section<never, Entry, Stored>,
  entries: readonly Entry[],
  { sections }: ManifestAccount,
  context: AccountPlanContext,
): Promise<PlannedChange[]> {
  const { changes, unnamed } = await planEntries(section, entries, context);
  const { accountId: account, transaction, options } = context;
  if (options.prune !== true || !sections.has(section.name)) return changes;
  for (const stored of unnamed) {
    if (section.canName?.(stored) === false) continue;
    const { kind, key } = section;
    const run = () => section.remove(transaction, account, stored);
    const id = String(stored[key]);
    changes.push({ account, kind, id, action: 'removed', path: undefined, notes: [], run });
  }
  return changes;
}

/** The members that differ between two states of a resource. */
export function changedMembers<State>(
  before: State,
  after: State,
  members: readonly (keyof State & string)[],
): string[] {
  return members.filter((name) => !isDeepStrictEqual(before[name], after[name]));
}

/** Plans to store a state, unless these members are as before. */
export function planState<State>(
  { before, after }: { readonly before: State | undefined; readonly after: State },
  members: readonly (keyof State & string)[],
  { notes, run }: Pick<Plan, 'notes' | 'run'>,
): Plan {
  if (before === undefined) return { action: 'created', notes, run };
  return changedMembers(before, after, members).length === 0
    ? { action: 'unchanged', notes }
    : { action: 'changed', notes, run };
}
