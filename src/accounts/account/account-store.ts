import { type Insertable, type Selectable, sql } from 'kysely';
import { announceChange } from '../../base/database/announce.ts';
import type { Kysely, Tables } from '../../base/database/open-database.ts';
import { hasRow } from '../../base/database/statements.ts';
import type { EmailAddress } from '../../base/values/email-address.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { AccessPolicy, Account, Quota, RetentionDays } from './account.ts';
import { type AccountSettings, columnOf, settingNames } from './account-settings.ts';

/** Notification topic for accounts; the key is the account id. */
export const accountTopic = 'account';

export async function readAccount(
  kysely: Kysely,
  accountId: AccountId,
): Promise<Account | undefined> {
  const [account] = await readAccounts(kysely, [accountId]);
  return account;
}

/** The accounts with these IDs, in the same order. */
export async function readAccounts(
  kysely: Kysely,
  accountIds: readonly AccountId[],
): Promise<(Account | undefined)[]> {
  const rows = await kysely
    .selectFrom('account')
    .selectAll()
    .where(sql<boolean>`id = any (${accountIds}::text[])`)
    .execute();
  const found = new Map(rows.map((row) => [row.id, toAccount(row)]));
  return accountIds.map((id) => found.get(id));
}

function toAccount(row: Selectable<Tables['account']>): Account {
  const policy = toPolicy({
    signIn: row.sign_in as AccessPolicy['signIn'],
    secondFactor: row.second_factor as AccessPolicy['secondFactor'],
    signInHours: row.sign_in_hours ?? undefined,
    peopleNetworks: row.people_networks,
    programNetworks: row.program_networks,
    securityAddress: (row.security_address ?? undefined) as EmailAddress | undefined,
  });
  const quota = toQuota(row.quota_per_hour ?? undefined, row.quota_per_day ?? undefined);
  return {
    id: row.id as AccountId,
    name: row.name,
    addOns: new Set(row.add_ons),
    suspended: row.suspended_at !== null,
    retentionDays: row.retention_days as RetentionDays,
    ...(quota && { quota }),
    ...settingsOf(row),
    ...(row.demo && { demo: true }),
    ...(policy && { policy }),
  };
}

/** Those without a value are missing. */
function settingsOf(row: Selectable<Tables['account']>): AccountSettings {
  const stored = settingNames.filter((name) => row[columnOf(name)] !== null);
  const values: unknown[][] = stored.map((name) => [name, row[columnOf(name)]]);
  return Object.fromEntries(values);
}

function columnsOf(settings: AccountSettings): Partial<Insertable<Tables['account']>> {
  return Object.fromEntries(settingNames.map((name) => [columnOf(name), settings[name] ?? null]));
}

/** Undefined for one that asks nothing. */
export function toPolicy(policy: AccessPolicy): AccessPolicy | undefined {
  const { signIn, secondFactor, signInHours, peopleNetworks, programNetworks } = policy;
  const isEmpty =
    signIn === 'own-choice' &&
    secondFactor === 'own-choice' &&
    signInHours === undefined &&
    policy.securityAddress === undefined &&
    peopleNetworks.length + programNetworks.length === 0;
  return isEmpty ? undefined : policy;
}

/** Undefined for one without limits. */
export function toQuota(
  perHour: number | undefined,
  perDay: number | undefined,
): Quota | undefined {
  return perHour === undefined && perDay === undefined ? undefined : { perHour, perDay };
}

/** Creates or updates an account and notifies all nodes at commit. */
export async function saveAccount(transaction: Kysely, account: Account): Promise<void> {
  const { quota, policy } = account;
  const row = {
    name: account.name,
    add_ons: [...account.addOns].sort(),
    suspended_at: account.suspended ? new Date() : null,
    retention_days: account.retentionDays,
    quota_per_hour: quota?.perHour ?? null,
    quota_per_day: quota?.perDay ?? null,
    ...columnsOf(account),
    sign_in: policy?.signIn ?? 'own-choice',
    second_factor: policy?.secondFactor ?? 'own-choice',
    sign_in_hours: policy?.signInHours ?? null,
    people_networks: [...(policy?.peopleNetworks ?? [])],
    program_networks: [...(policy?.programNetworks ?? [])],
    security_address: policy?.securityAddress ?? null,
  };
  // Keeps the time of the first suspension until the account is active again.
  const suspended_at = account.suspended
    ? sql<Date>`coalesce(account.suspended_at, excluded.suspended_at)`
    : null;
  await transaction
    .insertInto('account')
    .values({ id: account.id, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...row, suspended_at }))
    .execute();
  await announceChange(transaction, accountTopic, account.id);
}

/**
 * Whether an account exists and isn't suspended, which stays so until the transaction ends. Whatever changes an account without a
 * caller whom `authorize` has just admitted asks this: mailed links, providers and running imports.
 */
export function lockActiveAccount(transaction: Kysely, accountId: AccountId): Promise<boolean> {
  return hasRow(transaction)`
    select from account where id = ${accountId} and suspended_at is null for share`;
}

/** Accounts of the installation, ordered by id, after the given one. */
export async function readAccountPage(
  kysely: Kysely,
  after: string,
  limit: number,
): Promise<Account[]> {
  const rows = await kysely
    .selectFrom('account')
    .selectAll()
    .where('id', '>', after)
    .where('system', '=', false)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toAccount);
}
