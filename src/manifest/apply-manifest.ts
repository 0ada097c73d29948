import { changeWithoutLockout, describeLockout, lastOwnerReason } from '../access/lockout-store.ts';
import { recordAuditEvent } from '../audit/audit-store.ts';
import { type Actor, commandLine, recordChange } from '../change/actor.ts';
import { runLocked } from '../change/change-lock-store.ts';
import type { Database, DatabaseTransaction } from '../foundation/database/open-database.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import { ClientSecretHasher } from '../session/authenticate-client.ts';
import { type CompiledContents, withCompiledContents } from './compiled-contents.ts';
import type { Manifest } from './manifest.ts';
import type {
  ApplyOptions,
  ManifestChange,
  PlanContext,
  PlannedChange,
} from './manifest-change.ts';
import { ProblemCollector } from './manifest-problems.ts';
import { planAccount, planIntegrations, planLists, planSenders } from './plan-resources.ts';
import { planTemplates, requireCompiled } from './plan-templates.ts';
import { planPeople, planUsers } from './plan-users.ts';

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
 * Like `applyManifest`, but within the caller's transaction, which holds the lock (`src/change/change-lock-store.ts`).
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

/**
 * Records an apply in the audit log, in its transaction: an entry per created, changed or removed resource, and a
 * summary per account with the number of new passwords. The entries have no actor, because the command line has no
 * signed-in user.
 */
export async function recordApply(
  transaction: DatabaseTransaction,
  changes: readonly ManifestChange[],
): Promise<void> {
  const { origin } = commandLine();
  for (const [accountId, accountChanges] of Map.groupBy(changes, ({ account }) => account)) {
    for (const change of accountChanges)
      await recordOne(transaction, { origin, accountId }, change);
    const count = (action: ManifestChange['action']) =>
      accountChanges.filter((change) => change.action === action).length;
    const detail = {
      created: count('created'),
      changed: count('changed'),
      removed: count('removed'),
      newPasswords: accountChanges.filter(({ notes }) => notes.includes('first password')).length,
    };
    if (detail.created + detail.changed + detail.removed === 0) continue;
    await recordAuditEvent(transaction, { kind: 'manifest_applied', accountId, origin, detail });
  }
}

async function recordOne(
  transaction: DatabaseTransaction,
  actor: Actor,
  { action, kind, id, notes, changed }: ManifestChange,
): Promise<void> {
  if (action === 'unchanged') return;
  await recordChange(transaction, actor, `${kind}_${action}`, id, {
    ...(changed === undefined ? {} : { changed: changed.join(', ') }),
    ...(notes.length === 0 ? {} : { notes: notes.join('; ') }),
  });
}
