import {
  type GrantType,
  type Integration,
  readIntegration,
  readIntegrations,
  removeIntegration,
  saveIntegration,
} from '../session/integration-store.ts';
import type { ManifestAccount, ManifestIntegration } from './manifest.ts';
import { type PlanContext, type PlannedChange, toRemove } from './manifest-change.ts';

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
  if (before !== undefined && isSame(before, after))
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

function isSame(a: Integration, b: Integration): boolean {
  return (
    a.name === b.name &&
    a.redirectUri === b.redirectUri &&
    a.grants.size === b.grants.size &&
    a.grants.isSubsetOf(b.grants) &&
    a.secretHash.equals(b.secretHash)
  );
}
