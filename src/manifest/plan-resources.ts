import type { Account } from '../account/account.ts';
import { readAccount, saveAccount, toPolicy } from '../account/account-store.ts';
import {
  hasContacts,
  readLists,
  removeList,
  type StoredList,
  saveContacts,
  saveList,
} from '../list/list-store.ts';
import { notifyOfAddress } from '../outbox/security-notice-store.ts';
import { readSenders, removeSender, type Sender, saveSender } from '../sender/sender-store.ts';
import {
  type GrantType,
  type Integration,
  readIntegration,
  readIntegrations,
  removeIntegration,
  saveIntegration,
} from '../session/integration-store.ts';
import type {
  ManifestAccount,
  ManifestIntegration,
  ManifestList,
  ManifestSender,
} from './manifest.ts';
import { type PlanContext, type PlannedChange, toRemove } from './manifest-change.ts';

/** Plans the changes of an account itself. */
export async function planAccount(
  account: ManifestAccount,
  { transaction }: PlanContext,
): Promise<PlannedChange> {
  const before = await readAccount(transaction, account.id);
  const quota = account.quota ?? before?.quota;
  const archiveAddress = account.archiveAddress ?? before?.archiveAddress ?? '';
  const attachmentLimit =
    account.attachmentLimit === undefined
      ? before?.attachmentLimit
      : (account.attachmentLimit ?? undefined);
  const policy = account.policy ? toPolicy(account.policy) : before?.policy;
  const after: Account = {
    id: account.id,
    name: account.name,
    addOns: new Set(account.addOns ?? before?.addOns),
    suspended: account.suspended ?? before?.suspended ?? false,
    retentionDays: account.retentionDays ?? before?.retentionDays ?? 90,
    ...(quota?.perHour === undefined && quota?.perDay === undefined ? {} : { quota }),
    ...(archiveAddress === '' ? {} : { archiveAddress }),
    ...(attachmentLimit === undefined ? {} : { attachmentLimit }),
    ...(policy && { policy }),
  };
  const named = {
    account: account.id,
    kind: 'account',
    id: account.id,
    path: account.path,
    notes: after.suspended ? ['suspended: can’t send'] : [],
  } as const;
  const run = async () => {
    await saveAccount(transaction, after);
    if (before === undefined) return;
    const security = before.policy?.securityAddress;
    if (security !== after.policy?.securityAddress)
      await notifyOfAddress(transaction, account.id, 'security-address-changed', security);
    if (before.archiveAddress !== after.archiveAddress)
      await notifyOfAddress(transaction, account.id, 'archive-address-changed', security);
  };
  if (before === undefined) return { ...named, action: 'created', run };
  const changed = differences(before, after);
  if (changed.length === 0) return { ...named, action: 'unchanged' };
  return { ...named, action: 'changed', changed, run };
}

/** The members that differ between two states of an account. */
function differences(a: Account, b: Account): string[] {
  const same: Readonly<Record<string, boolean>> = {
    name: a.name === b.name,
    addOns: a.addOns.size === b.addOns.size && a.addOns.isSubsetOf(b.addOns),
    suspended: a.suspended === b.suspended,
    retentionDays: a.retentionDays === b.retentionDays,
    archiveAddress: a.archiveAddress === b.archiveAddress,
    quota: a.quota?.perHour === b.quota?.perHour && a.quota?.perDay === b.quota?.perDay,
    attachmentLimit: a.attachmentLimit === b.attachmentLimit,
    policy: JSON.stringify(a.policy) === JSON.stringify(b.policy),
  };
  return Object.keys(same).filter((name) => same[name] === false);
}

/** Plans the changes of an account's senders; `addresses` are the resulting ones. */
export async function planSenders(
  account: ManifestAccount,
  context: PlanContext,
): Promise<{ readonly changes: PlannedChange[]; readonly addresses: ReadonlySet<string> }> {
  const existing = await readSenders(context.transaction, account.id);
  const named = new Set<string>(account.senders.map(({ address }) => address));
  const addresses = new Set([...existing.map(({ address }) => address), ...named]);
  const changes = account.senders.map((sender) => {
    const before = existing.find(({ address }) => address === sender.address);
    return planSender(account, sender, before, context);
  });
  for (const { address } of toRemove(context, account, 'senders', existing, ({ address }) =>
    named.has(address),
  )) {
    addresses.delete(address);
    changes.push({
      account: account.id,
      kind: 'sender',
      id: address,
      action: 'removed',
      path: undefined,
      notes: [],
      run: () => removeSender(context.transaction, account.id, address),
    });
  }
  return { changes, addresses };
}

function planSender(
  account: ManifestAccount,
  sender: ManifestSender,
  before: Sender | undefined,
  { transaction }: PlanContext,
): PlannedChange {
  const after: Sender = {
    address: sender.address,
    displayNames: sender.displayNames ?? before?.displayNames ?? [],
    verified: sender.verified ?? before?.verified ?? false,
  };
  const named = {
    account: account.id,
    kind: 'sender',
    id: sender.address,
    path: sender.path,
    notes: after.verified ? [] : ['not verified: can’t send yet'],
  } as const;
  if (before !== undefined && isSameSender(before, after)) return { ...named, action: 'unchanged' };
  return {
    ...named,
    action: before === undefined ? 'created' : 'changed',
    run: () => saveSender(transaction, account.id, after),
  };
}

function isSameSender(a: Sender, b: Sender): boolean {
  return (
    a.verified === b.verified && JSON.stringify(a.displayNames) === JSON.stringify(b.displayNames)
  );
}

const defaultRedirectUri = 'https://localhost/callback';
const defaultGrants: readonly GrantType[] = ['authorization_code', 'refresh_token'];

/** Plans the changes of an account's integrations. */
export async function planIntegrations(
  account: ManifestAccount,
  context: PlanContext,
): Promise<PlannedChange[]> {
  const changes: PlannedChange[] = [];
  for (const integration of account.integrations) {
    const change = await planIntegration(account, integration, context);
    if (change !== undefined) changes.push(change);
  }
  const existing = await readIntegrations(context.transaction, account.id);
  const named = new Set(account.integrations.map(({ clientId }) => clientId));
  for (const { clientId } of toRemove(context, account, 'integrations', existing, ({ clientId }) =>
    named.has(clientId),
  )) {
    changes.push({
      account: account.id,
      kind: 'integration',
      id: clientId,
      action: 'removed',
      path: undefined,
      notes: [],
      run: () => removeIntegration(context.transaction, account.id, clientId),
    });
  }
  return changes;
}

async function planIntegration(
  account: ManifestAccount,
  desired: ManifestIntegration,
  { transaction, secrets, problems }: PlanContext,
): Promise<PlannedChange | undefined> {
  const before = await readIntegration(transaction, desired.clientId);
  if (before !== undefined && before.accountId !== account.id) {
    problems.add([...desired.path, 'clientId'], 'belongs to another account');
    return undefined;
  }
  const { clientSecret } = desired;
  // The stored hash can be one of an earlier master key.
  const keepsSecret =
    clientSecret === undefined ||
    (before !== undefined && secrets.matches(clientSecret, before.secretHash));
  const secretHash = keepsSecret ? before?.secretHash : secrets.hash(clientSecret);
  if (secretHash === undefined) {
    problems.add([...desired.path, 'clientSecret'], 'is required for a new integration');
    return undefined;
  }
  const after: Integration = {
    clientId: desired.clientId,
    accountId: account.id,
    name: desired.name,
    redirectUri: desired.redirectUri ?? before?.redirectUri ?? defaultRedirectUri,
    grants: new Set(desired.grants ?? before?.grants ?? defaultGrants),
    disabled: before?.disabled ?? false,
    secretHash,
  };
  const named = {
    account: account.id,
    kind: 'integration',
    id: desired.clientId,
    path: desired.path,
  } as const;
  if (before !== undefined && isSameIntegration(before, after))
    return { ...named, action: 'unchanged', notes: [] };
  const rotated = before !== undefined && !before.secretHash.equals(secretHash);
  return {
    ...named,
    action: before === undefined ? 'created' : 'changed',
    notes: rotated ? ['new secret'] : [],
    run: async () => {
      if (await saveIntegration(transaction, after)) return;
      // Accounts change concurrently, so another one may just have taken this ID.
      problems.add([...desired.path, 'clientId'], 'belongs to another account');
      problems.throwIfAny();
    },
  };
}

function isSameIntegration(a: Integration, b: Integration): boolean {
  return (
    a.name === b.name &&
    a.redirectUri === b.redirectUri &&
    a.grants.size === b.grants.size &&
    a.grants.isSubsetOf(b.grants) &&
    a.secretHash.equals(b.secretHash)
  );
}

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
