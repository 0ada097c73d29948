import type { Account } from '../account/account.ts';
import { readAccount, saveAccount } from '../account/account-store.ts';
import type { ManifestAccount } from './manifest.ts';
import type { PlanContext, PlannedChange } from './manifest-change.ts';

/** Finds out what becomes of an account itself. */
export async function planAccount(
  account: ManifestAccount,
  { transaction }: PlanContext,
): Promise<PlannedChange> {
  const before = await readAccount(transaction, account.id);
  const after: Account = {
    id: account.id,
    name: account.name,
    addOns: new Set(account.addOns ?? before?.addOns),
    suspended: account.suspended ?? before?.suspended ?? false,
    retentionDays: account.retentionDays ?? before?.retentionDays ?? 90,
  };
  const named = {
    account: account.id,
    kind: 'account',
    id: account.id,
    path: account.path,
    notes: after.suspended ? ['suspended: it can send nothing'] : [],
  } as const;
  if (before !== undefined && isSame(before, after)) return { ...named, action: 'unchanged' };
  return {
    ...named,
    action: before === undefined ? 'created' : 'changed',
    run: () => saveAccount(transaction, after),
  };
}

function isSame(a: Account, b: Account): boolean {
  return (
    a.name === b.name &&
    a.suspended === b.suspended &&
    a.retentionDays === b.retentionDays &&
    a.addOns.size === b.addOns.size &&
    a.addOns.isSubsetOf(b.addOns)
  );
}
