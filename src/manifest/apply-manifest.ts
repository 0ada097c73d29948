import { changeWithoutLockout, describeLockout, lastOwnerReason } from '../access/lockout-store.ts';
import type { Account } from '../account/account.ts';
import { readAccount, saveAccount, toPolicy } from '../account/account-store.ts';
import { runLocked } from '../change/run-locked.ts';
import type { Database, DatabaseTransaction } from '../foundation/database/open-database.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import { notifyOfAddress } from '../outbox/security-notice-store.ts';
import { readSenders, removeSender, type Sender, saveSender } from '../sender/sender-store.ts';
import { ClientSecretHasher } from '../session/client-secret.ts';
import { type CompiledContents, withCompiledContents } from './compiled-contents.ts';
import type { Manifest, ManifestAccount, ManifestSender } from './manifest.ts';
import {
  type ApplyOptions,
  type ManifestChange,
  type PlanContext,
  type PlannedChange,
  toRemove,
} from './manifest-change.ts';
import { ProblemCollector } from './manifest-problems.ts';
import { planIntegrations } from './plan-integrations.ts';
import { planLists } from './plan-lists.ts';
import { planPeople } from './plan-people.ts';
import { planTemplates, requireCompiled } from './plan-templates.ts';
import { planUsers } from './plan-users.ts';
import { recordApply } from './record-apply.ts';

/** Rolls back a dry run; never leaves this file. */
class DryRunRollback extends Error {
  readonly changes: readonly ManifestChange[];

  constructor(changes: readonly ManifestChange[]) {
    super('dry run');
    this.changes = changes;
  }
}

/**
 * Applies a manifest in one transaction. Resources that already match aren't touched, and concurrent applies run one at
 * a time.
 * @returns the changes, in the order of the manifest
 * @throws ManifestError if anything is invalid; then nothing changes
 */
export function applyManifest(
  database: Database,
  key: MasterKey,
  manifest: Manifest,
  options: ApplyOptions = {},
): Promise<readonly ManifestChange[]> {
  return withCompiledContents(undefined, (contents) =>
    applyCompiled(database, key, manifest, options, contents),
  );
}

async function applyCompiled(
  database: Database,
  key: MasterKey,
  manifest: Manifest,
  options: ApplyOptions,
  contents: CompiledContents,
): Promise<readonly ManifestChange[]> {
  try {
    return await runLocked(database, undefined, async (transaction) => {
      const changes = await applyWithoutLockout(transaction, key, manifest, contents, options);
      if (options.dryRun === true) throw new DryRunRollback(changes);
      await recordApply(transaction, changes);
      return changes;
    });
  } catch (error) {
    if (error instanceof DryRunRollback) return error.changes;
    throw error;
  }
}

/** @throws ManifestError if an account would lose its last owner who can sign in, or the installation its last operator */
async function applyWithoutLockout(
  transaction: DatabaseTransaction,
  key: MasterKey,
  manifest: Manifest,
  contents: CompiledContents,
  options: ApplyOptions,
): Promise<readonly ManifestChange[]> {
  let changes: readonly ManifestChange[] = [];
  const { signIn = { operatorSecondFactor: false, provider: undefined } } = options;
  const scope = { accounts: manifest.accounts.map(({ id }) => id), operators: true };
  const locked = await changeWithoutLockout(transaction, signIn, scope, async () => {
    changes = await applyInTransaction(transaction, key, manifest, contents, options);
  });
  if (locked === undefined) return changes;
  const problems = new ProblemCollector(manifest.locate);
  if (locked === 'operators') {
    problems.add(['accounts'], describeLockout(locked));
    problems.throwIfAny();
    return changes;
  }
  const account = manifest.accounts.find(({ id }) => id === locked.accountId);
  problems.add(
    [...(account?.path ?? []), 'users'],
    `would leave no owner who can sign in: ${lastOwnerReason}. Name such an owner, or change \`policy\``,
  );
  problems.throwIfAny();
  return changes;
}

/**
 * Like `applyManifest`, but within the caller's transaction, which holds the lock (`src/change/run-locked.ts`).
 * @throws NotCompiled if a template has new content that isn't compiled
 */
export async function applyInTransaction(
  transaction: DatabaseTransaction,
  key: MasterKey,
  manifest: Manifest,
  contents: CompiledContents,
  options: ApplyOptions = {},
): Promise<readonly ManifestChange[]> {
  const problems = new ProblemCollector(manifest.locate);
  const context = {
    transaction,
    secrets: new ClientSecretHasher(key),
    problems,
    options,
    contents,
  };
  await requireCompiled(manifest.accounts, context);
  const planned = await plan(manifest, context);
  problems.throwIfAny();
  for (const change of planned) await change.run?.();
  return planned.map(({ run: _, ...change }) => change);
}

async function plan(manifest: Manifest, context: PlanContext): Promise<PlannedChange[]> {
  const people = await planPeople(manifest, context);
  const changes: PlannedChange[] = [];
  for (const account of manifest.accounts) {
    const users = await planUsers(account, people, context);
    const senders = await planSenders(account, context);
    const references = {
      members: users.members,
      senders: senders.addresses,
      changes: [...users.changes, ...senders.changes],
    };
    changes.push(
      await planAccount(account, context),
      ...users.changes,
      ...senders.changes,
      ...(await planIntegrations(account, context)),
      ...(await planTemplates(account, references, context)),
      ...(await planLists(account, context)),
    );
  }
  return changes;
}

/** Plans the changes of an account's senders; `addresses` are the resulting ones. */
async function planSenders(
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
  if (before !== undefined && isSame(before, after)) return { ...named, action: 'unchanged' };
  return {
    ...named,
    action: before === undefined ? 'created' : 'changed',
    run: () => saveSender(transaction, account.id, after),
  };
}

function isSame(a: Sender, b: Sender): boolean {
  return (
    a.verified === b.verified && JSON.stringify(a.displayNames) === JSON.stringify(b.displayNames)
  );
}

/** Plans the changes of an account itself. */
async function planAccount(
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
