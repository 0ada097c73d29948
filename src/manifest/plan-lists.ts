import {
  hasContacts,
  readLists,
  removeList,
  type StoredList,
  saveContacts,
  saveList,
} from '../list/list-store.ts';
import type { ManifestAccount, ManifestList } from './manifest.ts';
import { type PlanContext, type PlannedChange, toRemove } from './manifest-change.ts';

/** Plans the changes of an account's lists. */
export async function planLists(
  account: ManifestAccount,
  context: PlanContext,
): Promise<PlannedChange[]> {
  const existing = await readLists(context.transaction, account.id);
  const changes: PlannedChange[] = [];
  for (const list of account.lists) {
    const before = existing.find(({ id }) => id === list.id);
    changes.push(await planList(account, list, before, context));
  }
  const named = new Set(account.lists.map(({ id }) => id));
  for (const { id } of toRemove(context, account, 'lists', existing, ({ id }) => named.has(id))) {
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

async function planList(
  account: ManifestAccount,
  list: ManifestList,
  before: StoredList | undefined,
  { transaction, options }: PlanContext,
): Promise<PlannedChange> {
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
  const sameContacts =
    contacts === undefined || (await isWritten(transaction, after, before, contacts, prune));
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

/** True if the list contains the rows of the file and, with `prune`, no others. */
async function isWritten(
  transaction: PlanContext['transaction'],
  list: Parameters<typeof hasContacts>[1],
  before: StoredList | undefined,
  { rows, contentHash }: NonNullable<ManifestList['contacts']>,
  prune: boolean,
): Promise<boolean> {
  if (before === undefined || (prune && before.sourceSize !== rows.length)) return false;
  if (before.contentHash?.equals(contentHash) === true) return true;
  return hasContacts(transaction, list, rows);
}
