import { readSenders, removeSender, type Sender, saveSender } from '../sender/sender-store.ts';
import type { ManifestAccount, ManifestSender } from './manifest.ts';
import { type PlanContext, type PlannedChange, toRemove } from './manifest-change.ts';

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
