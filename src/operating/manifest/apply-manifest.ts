import {
  changeWithoutLockout,
  describeLockout,
  lastOwnerReason,
} from '../../accounts/access/last-owner-store.ts';
import { recordAuditEvent } from '../../accounts/audit/audit-store.ts';
import { ClientSecretHasher } from '../../accounts/oauth/authenticate-client.ts';
import type { Database, DatabaseTransaction, Kysely } from '../../base/database/open-database.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { AccountId } from '../../base/values/ids.ts';
import { readTemplates, type TemplateRow } from '../../content/template/template-store.ts';
import { type Actor, commandLine, recordChange } from '../change/actor.ts';
import { runLocked } from '../change/change-lock-store.ts';
import { CompiledContents } from './compiled-contents.ts';
import type { Manifest } from './manifest.ts';
import type {
  ApplyOptions,
  ManifestChange,
  PlanContext,
  PlannedChange,
} from './manifest-change.ts';
import { ManifestFiles } from './manifest-files.ts';
import { type ManifestPath, ProblemCollector } from './manifest-problems.ts';
import {
  type ManifestResource,
  type Placed,
  planEntries,
  planSection,
} from './manifest-resource.ts';
import type { BuildContext } from './read-values.ts';
import {
  accountResource,
  integrationSection,
  listSection,
  outboxSection,
  senderSection,
} from './resource-sections.ts';
import { hasContent, readReferences, templateSection } from './template-section.ts';
import { planPeople, userSection } from './user-section.ts';

/** Rolls back a dry run; never leaves this file. */
class DryRunRollback extends Error {
  readonly changes: readonly ManifestChange[];

  constructor(changes: readonly ManifestChange[]) {
    super('dry run');
    this.changes = changes;
  }
}

/**
 * Applies a manifest in one transaction, after compiling new content of templates. Resources that already match aren't touched,
 * and concurrent applies run one at a time.
 * @returns the changes, in the order of the manifest
 * @throws ManifestError if anything is invalid; then nothing changes
 */
export async function applyManifest(
  database: Database,
  key: MasterKey,
  manifest: Manifest,
  options: ApplyOptions = {},
): Promise<readonly ManifestChange[]> {
  const contents = await compileNew(database.kysely, manifest);
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

/** Compiles the templates whose published content is another one. */
async function compileNew(kysely: Kysely, { accounts }: Manifest): Promise<CompiledContents> {
  const contents = new CompiledContents();
  for (const { id, templates } of accounts) {
    const existing = templates.length === 0 ? [] : await readTemplates(kysely, id);
    const rows = new Map<string, TemplateRow>(existing.map((row) => [row.id, row]));
    await contents.compile(templates.filter((one) => !hasContent(rows.get(one.id), one)));
  }
  return contents;
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
  if (locked === 'operators') problems.add(['accounts'], describeLockout(locked));
  else {
    const account = manifest.accounts.find(({ id }) => id === locked.accountId);
    problems.add(
      [...(account?.path ?? []), 'users'],
      `would leave no owner who can sign in: ${lastOwnerReason}. Name such an owner, or change \`policy\``,
    );
  }
  throw problems.toError();
}

/**
 * Like `applyManifest`, but within the caller's transaction, which holds the lock (`src/operating/change/change-lock-store.ts`).
 * @param contents compiled templates of the manifest
 */
export async function applyInTransaction(
  transaction: DatabaseTransaction,
  key: MasterKey,
  manifest: Manifest,
  contents: CompiledContents,
  options: ApplyOptions = {},
): Promise<readonly ManifestChange[]> {
  const problems = new ProblemCollector(manifest.locate);
  const secrets = new ClientSecretHasher(key);
  const planned = await plan(manifest, { transaction, key, secrets, problems, options, contents });
  problems.throwIfAny();
  for (const change of planned) await change.run?.();
  return planned.map(({ run: _, ...change }) => change);
}

async function plan({ accounts }: Manifest, shared: PlanContext): Promise<PlannedChange[]> {
  const users = accounts.flatMap((account) => account.users);
  const people = await planPeople(users, shared);
  const changes: PlannedChange[] = [];
  for (const account of accounts) {
    const { id: accountId, integrations, templates, lists, outboxSources } = account;
    const context = { ...shared, accountId };
    const referable = [
      ...(await planSection(userSection(people), account.users, account, context)),
      ...(await planSection(senderSection, account.senders, account, context)),
    ];
    const references = await readReferences(shared.transaction, accountId, referable, people);
    changes.push(
      ...(await planEntries(accountResource, [account], context)).changes,
      ...referable,
      ...(await planSection(integrationSection, integrations, account, context)),
      ...(await planSection(templateSection(references), templates, account, context)),
      ...(await planSection(listSection, lists, account, context)),
      ...(await planSection(outboxSection, outboxSources, account, context)),
    );
  }
  return changes;
}

/**
 * Converts a single entry of a manifest.
 * @throws ManifestError with every problem; its paths start at the entry
 */
export async function buildEntry<Raw, Entry>(
  build: (raw: Raw, path: ManifestPath, context: BuildContext) => Entry | Promise<Entry>,
  raw: Raw,
): Promise<Entry> {
  const problems = new ProblemCollector(() => undefined);
  // The API's schemas don't allow file references.
  const entry = await build(raw, [], { files: new ManifestFiles(''), problems });
  problems.throwIfAny();
  return entry;
}

/** Where an entry is applied by itself. */
export interface EntryScope {
  readonly transaction: DatabaseTransaction;
  readonly key: MasterKey;
  readonly accountId: AccountId;
  readonly options?: ApplyOptions;
  /** Compiled templates. */
  readonly contents?: CompiledContents;
}

/**
 * Applies a single entry, so changes through the API follow the rules of `apply`. Omitted settings stay unchanged.
 * @returns what people should know
 * @throws ManifestError with every problem; its paths start at the entry
 */
export async function applyEntry<Raw, Entry extends Placed, Stored>(
  resource: ManifestResource<Raw, Entry, Stored>,
  raw: Raw,
  { transaction, key, accountId, options = {}, contents = new CompiledContents() }: EntryScope,
): Promise<readonly string[]> {
  const entry = await buildEntry(resource.build, raw);
  const problems = new ProblemCollector(() => undefined);
  const secrets = new ClientSecretHasher(key);
  const context = { transaction, key, secrets, problems, options, contents, accountId };
  const { changes } = await planEntries(resource, [entry], context);
  problems.throwIfAny();
  for (const change of changes) await change.run?.();
  return changes.flatMap(({ notes }) => notes);
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
