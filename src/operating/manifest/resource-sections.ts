import type { AccessPolicy, Account } from '../../accounts/account/account.ts';
import {
  parseOptionalAddress,
  parseSettings,
  settingNames,
} from '../../accounts/account/account-settings.ts';
import {
  readAccount,
  saveAccount,
  toPolicy,
  toQuota,
} from '../../accounts/account/account-store.ts';
import { notifyOfAddress } from '../../accounts/notices/security-notice-store.ts';
import {
  type Integration,
  readIntegration,
  readIntegrations,
  removeIntegration,
  type StoredIntegration,
  saveIntegration,
} from '../../accounts/oauth/integration-store.ts';
import {
  defaultGrants,
  defaultRedirectUri,
  findRedirectUriProblem,
} from '../../accounts/oauth/redirect-uri.ts';
import {
  readSenders,
  removeSender,
  type Sender,
  saveSender,
} from '../../accounts/sender/sender-store.ts';
import { isNetwork } from '../../base/network/ip-address.ts';
import { PublicNetworks } from '../../base/network/public-networks.ts';
import type { AccountId, ClientId, ListId } from '../../base/values/ids.ts';
import {
  hasContacts,
  readLists,
  removeList,
  type StoredList,
  saveContacts,
  saveList,
} from '../../content/list/list-store.ts';
import {
  changeSource,
  listSources,
  openSource,
  sourceOf,
} from '../../outbox/source/outbox-source-store.ts';
import type { OutboxSource } from '../../outbox/source/source-schemas.ts';
import type {
  ManifestContacts,
  ManifestIntegration,
  ManifestList,
  ManifestOutboxSource,
  ManifestSection,
  ManifestSender,
} from './manifest.ts';
import type { AccountPlanContext } from './manifest-change.ts';
import type { ManifestPath, ProblemCollector } from './manifest-problems.ts';
import {
  changedMembers,
  type ManifestResource,
  planState,
  type Section,
} from './manifest-resource.ts';
import type {
  RawAccount,
  RawIntegration,
  RawList,
  RawOutboxSource,
  RawPolicy,
  RawSender,
} from './manifest-schema.ts';
import { maxCsvBytes, readContacts } from './read-contacts.ts';
import { type BuildContext, checkSecret, checkText, parseManifestAddress } from './read-values.ts';

/** The settings of an account. */
interface AccountSettings {
  readonly path: ManifestPath;
  readonly id: AccountId;
  readonly settings: Partial<Account> & Pick<Account, 'name'>;
}

const memberNames = [
  'name',
  'addOns',
  'suspended',
  'retentionDays',
  'quota',
  ...settingNames,
  'policy',
] as const;

/** An account itself, without what it has. */
export const accountResource: ManifestResource<
  Omit<RawAccount, ManifestSection>,
  AccountSettings,
  Account
> = {
  kind: 'account',
  key: 'id',
  build: (raw, path, { problems }) => ({
    path,
    id: raw.id as AccountId,
    settings: {
      name: checkText(raw.name, [...path, 'name'], problems),
      ...(raw.addOns && { addOns: new Set(raw.addOns) }),
      ...(raw.suspended !== undefined && { suspended: raw.suspended }),
      ...(raw.retentionDays && { retentionDays: raw.retentionDays }),
      ...(raw.quota && { quota: toQuota(raw.quota.perHour, raw.quota.perDay) }),
      ...parseSettings(raw, (name, reason) => problems.add([...path, name], reason)),
      ...(raw.policy && { policy: buildPolicy(raw.policy, [...path, 'policy'], problems) }),
    },
  }),
  async read(transaction, accountId) {
    const account = await readAccount(transaction, accountId);
    return account === undefined ? [] : [account];
  },
  plan({ id, settings }, before, { transaction }) {
    const defaults = { addOns: new Set<string>(), suspended: false, retentionDays: 90 } as const;
    const after: Account = { ...defaults, ...before, ...settings, id };
    const notes = after.suspended ? ['suspended: can’t send'] : [];
    const run = async () => {
      await saveAccount(transaction, after);
      if (before === undefined) return;
      const security = before.policy?.securityAddress;
      if (security !== after.policy?.securityAddress)
        await notifyOfAddress(transaction, id, 'security-address-changed', security);
      if (before.archiveAddress !== after.archiveAddress)
        await notifyOfAddress(transaction, id, 'archive-address-changed', security);
    };
    if (before === undefined) return { action: 'created', notes, run };
    const changed = changedMembers(before, after, memberNames);
    return changed.length === 0
      ? { action: 'unchanged', notes }
      : { action: 'changed', notes, changed, run };
  },
};

function buildPolicy(
  raw: RawPolicy,
  path: ManifestPath,
  problems: ProblemCollector,
): AccessPolicy | undefined {
  const networksOf = (name: 'peopleNetworks' | 'programNetworks'): readonly string[] => {
    const networks = raw[name] ?? [];
    for (const [index, network] of networks.entries())
      if (!isNetwork(network))
        problems.add([...path, name, index], 'is not a network such as 192.0.2.0/24');
    return networks;
  };
  const { securityAddress = '' } = raw;
  return toPolicy({
    signIn: raw.signIn ?? 'own-choice',
    secondFactor: raw.secondFactor ?? 'own-choice',
    signInHours: raw.signInHours ?? undefined,
    peopleNetworks: networksOf('peopleNetworks'),
    programNetworks: networksOf('programNetworks'),
    securityAddress: parseOptionalAddress(securityAddress, (reason) =>
      problems.add([...path, 'securityAddress'], reason),
    ),
  });
}

export const senderSection: Section<RawSender, ManifestSender, Sender> = {
  kind: 'sender',
  name: 'senders',
  key: 'address',
  build(raw, path, { problems }) {
    for (const [index, name] of (raw.displayNames ?? []).entries())
      checkText(name, [...path, 'displayNames', index], problems);
    const address = parseManifestAddress(raw.address, [...path, 'address'], problems);
    return { ...raw, path, address };
  },
  read: readSenders,
  plan({ path: _, ...entry }, before, { transaction, accountId }) {
    const after: Sender = { displayNames: [], verified: false, ...before, ...entry };
    return planState({ before, after }, ['displayNames', 'verified'], {
      notes: after.verified ? [] : ['not verified: can’t send yet'],
      run: () => saveSender(transaction, accountId, after),
    });
  },
  remove: (transaction, accountId, { address }) => removeSender(transaction, accountId, address),
};

export const integrationSection: Section<RawIntegration, ManifestIntegration, StoredIntegration> = {
  kind: 'integration',
  name: 'integrations',
  key: 'clientId',
  build(raw, path, { problems }) {
    const { redirectUri } = raw;
    const problem = redirectUri === undefined ? undefined : findRedirectUriProblem(redirectUri);
    if (problem !== undefined) problems.add([...path, 'redirectUri'], problem);
    checkSecret(raw.clientSecret, [...path, 'clientSecret'], problems);
    checkText(raw.name, [...path, 'name'], problems);
    return { ...raw, path };
  },
  read: readIntegrations,
  async plan({ path, clientSecret, ...entry }, _, { transaction, accountId, secrets, problems }) {
    const clientId = entry.clientId as ClientId;
    const before = await readIntegration(transaction, clientId);
    if (before !== undefined && before.accountId !== accountId) {
      problems.add([...path, 'clientId'], 'belongs to another account');
      return undefined;
    }
    // The stored hash can be one of an earlier master key.
    const keepsSecret =
      clientSecret === undefined ||
      (before !== undefined && secrets.matches(clientSecret, before.secretHash));
    const secretHash = keepsSecret ? before?.secretHash : secrets.hash(clientSecret);
    if (secretHash === undefined) {
      problems.add([...path, 'clientSecret'], 'is required for a new integration');
      return undefined;
    }
    const after: Integration = {
      clientId,
      accountId,
      name: entry.name,
      redirectUri: entry.redirectUri ?? before?.redirectUri ?? defaultRedirectUri,
      grants: new Set(entry.grants ?? before?.grants ?? defaultGrants),
      disabled: before?.disabled ?? false,
      secretHash,
    };
    const rotated = before !== undefined && !before.secretHash.equals(secretHash);
    const members = ['name', 'redirectUri', 'grants', 'secretHash'] as const;
    return planState<Integration>({ before, after }, members, {
      notes: rotated ? ['new secret'] : [],
      run: async () => {
        if (await saveIntegration(transaction, after)) return;
        // Accounts change concurrently, so another one may just have taken this ID.
        problems.add([...path, 'clientId'], 'belongs to another account');
        problems.throwIfAny();
      },
    });
  },
  remove: (transaction, accountId, { clientId }) =>
    removeIntegration(transaction, accountId, clientId),
};

export const listSection: Section<RawList, ManifestList, StoredList> = {
  kind: 'list',
  name: 'lists',
  key: 'id',
  async build({ csv, ...raw }, path, context) {
    const { problems } = context;
    for (const name of ['name', 'folderName', 'description'] as const)
      checkText(raw[name], [...path, name], problems);
    const contacts = csv === undefined ? undefined : await buildContacts(csv, path, context);
    return { ...raw, path, id: raw.id as ListId, contacts };
  },
  read: readLists,
  async plan({ contacts, path: _, ...entry }, before, { transaction, accountId, options }) {
    const { folderName = '', description = '' } = before ?? {};
    const after = { accountId, folderName, description, ...entry };
    const prune = options.prune === true;
    const sameContacts =
      contacts === undefined || (await isWritten(transaction, after, before, contacts, prune));
    const count = contacts?.rows.length;
    const notes =
      count === undefined ? [] : [`${count} ${count === 1 ? 'contact' : 'contacts'} in the file`];
    const members = ['name', 'folderName', 'description'] as const;
    const sameSettings =
      before !== undefined && changedMembers<typeof entry>(before, after, members).length === 0;
    if (sameSettings && sameContacts) return { action: 'unchanged', notes };
    return {
      action: before === undefined ? 'created' : 'changed',
      notes,
      run: async () => {
        if (!sameSettings) await saveList(transaction, after);
        if (!sameContacts) await saveContacts(transaction, after, contacts, prune);
      },
    };
  },
  remove: (transaction, accountId, { id }) => removeList(transaction, accountId, id),
};

async function buildContacts(
  file: string,
  path: ManifestPath,
  { files, problems }: BuildContext,
): Promise<ManifestContacts | undefined> {
  const at = [...path, 'csv'];
  const bytes = await files.bytes(file, maxCsvBytes);
  if (!('reason' in bytes))
    return readContacts(bytes, (message) => problems.add(at, `${file} ${message}`));
  problems.add(at, `${file} ${bytes.reason}`);
  return undefined;
}

/** True if the list contains the rows of the file and, with `prune`, no others. */
async function isWritten(
  transaction: AccountPlanContext['transaction'],
  list: Parameters<typeof hasContacts>[1],
  before: StoredList | undefined,
  { rows, contentHash }: ManifestContacts,
  prune: boolean,
): Promise<boolean> {
  if (before === undefined || (prune && before.sourceSize !== rows.length)) return false;
  if (before.contentHash?.equals(contentHash) === true) return true;
  return hasContacts(transaction, list, rows);
}

/** Tables of an account's own databases. A URL that is stored already isn't encrypted again. */
export const outboxSection: Section<RawOutboxSource, ManifestOutboxSource, OutboxSource> = {
  kind: 'outbox_source',
  name: 'outboxSources',
  key: 'id',
  build: (raw, path) => ({ ...raw, path }),
  read: listSources,
  async plan({ path, id, ...settings }, _, { transaction, accountId, key, problems, options }) {
    const networks = options.outboxNetworks ?? new PublicNetworks([]);
    const before = await openSource(transaction, key, accountId, id);
    const after = changeSource(before, settings, networks);
    if ('reason' in after) {
      problems.add([...path, after.field], after.reason);
      return undefined;
    }
    return planState<typeof after>({ before, after }, ['after', 'rowsPerSecond', 'url'], {
      notes: before !== undefined && after.url !== before.url ? ['new URL'] : [],
      run: () => sourceOf(accountId, id).save(transaction, key, after),
    });
  },
  remove: (transaction, accountId, { id }) => sourceOf(accountId, id).remove(transaction),
};
