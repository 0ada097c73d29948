import {
  readLists,
  removeList,
  type StoredList,
  saveContacts,
  saveList,
} from '../list/list-store.ts';
import type { ManifestAccount, ManifestList } from './manifest.ts';
import { type PlanContext, type PlannedChange, toRemove } from './manifest-change.ts';

/** Finds out what becomes of the lists of an account. */
export async function planLists(
  account: ManifestAccount,
  context: PlanContext,
): Promise<PlannedChange[]> {
  const existing = await readLists(context.transaction, account.id);
  const changes = account.lists.map((list) => {
    const before = existing.find(({ id }) => id === list.id);
    return planList(account, list, before, context);
  });
  const named = new Set(account.lists.map(({ id }) => id));
  for (const { id } of toRemove(context, existing, ({ id }) => named.has(id))) {
    changes.push({
      account: account.id,
      kind: 'list',
      id,
      action: 'removed',
      path: undefined,
      notes: [],
      run: () => removeList(context.transaction, account.id, id),
    });
  }
  return changes;
}

function planList(
  account: ManifestAccount,
  list: ManifestList,
  before: StoredList | undefined,
  { transaction, options }: PlanContext,
): PlannedChange {
  const { contacts } = list;
  const after = {
    accountId: account.id,
    id: list.id,
    name: list.name,
    folderName: list.folderName ?? before?.folderName ?? '',
    description: list.description ?? before?.description ?? '',
  };
  const sameSettings =
    before !== undefined &&
    before.name === after.name &&
    before.folderName === after.folderName &&
    before.description === after.description;
  const prune = options.prune === true;
  const sameContacts = contacts === undefined || hasContacts(before, contacts, prune);
  const named = { account: account.id, kind: 'list', id: list.id, path: list.path } as const;
  const count = contacts?.rows.length;
  const size =
    count === undefined ? [] : [`${count} ${count === 1 ? 'contact' : 'contacts'} in the file`];
  if (sameSettings && sameContacts) return { ...named, action: 'unchanged', notes: size };
  return {
    ...named,
    action: before === undefined ? 'created' : 'changed',
    notes: size,
    run: async () => {
      if (!sameSettings) await saveList(transaction, after);
      if (!sameContacts) await saveContacts(transaction, after, contacts, prune);
    },
  };
}

/** True where the same rows were written last, and with `prune` none beside them are left. */
function hasContacts(
  before: StoredList | undefined,
  contacts: NonNullable<ManifestList['contacts']>,
  prune: boolean,
): boolean {
  if (before?.contentHash?.equals(contacts.contentHash) !== true) return false;
  return !prune || before.sourceSize === contacts.rows.length;
}
