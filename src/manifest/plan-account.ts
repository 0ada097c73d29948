import type { Account } from '../account/account.ts';
import { readAccount, saveAccount, toPolicy } from '../account/account-store.ts';
import { notifyOfAddress } from '../outbox/security-notice-store.ts';
import type { ManifestAccount } from './manifest.ts';
import type { PlanContext, PlannedChange } from './manifest-change.ts';

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
