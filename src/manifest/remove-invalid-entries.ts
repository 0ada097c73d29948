import type { ManifestPath } from './manifest-path.ts';
import type { RawManifest } from './manifest-schema.ts';

type Members = Record<string, unknown>;

/**
 * Removes the invalid list entries and other members of accounts from a manifest. Lists get holes, so the other entries keep
 * their index.
 * @param invalidPaths all paths with schema errors
 * @returns undefined without a list of accounts
 */
export function removeInvalidEntries(
  value: unknown,
  invalidPaths: readonly ManifestPath[],
): RawManifest | undefined {
  const remaining = structuredClone(value) as { accounts: Members[] };
  if (invalidPaths.some(([top, account]) => top === 'accounts' && account === undefined))
    return undefined;
  if (!Array.isArray(remaining?.accounts)) return undefined;
  for (const [top, account, member, entry] of invalidPaths) {
    if (top !== 'accounts' || typeof account !== 'number') continue;
    const inside = remaining.accounts[account];
    if (member === undefined) delete remaining.accounts[account];
    else if (inside !== undefined) drop(inside, String(member), entry);
  }
  return remaining as unknown as RawManifest;
}

function drop(account: Members, member: string, entry: string | number | undefined): void {
  const list = account[member];
  if (Array.isArray(list) && typeof entry === 'number') delete list[entry];
  // Both are required; an empty value causes no further problems.
  else if (member === 'id' || member === 'name') account[member] = '';
  else delete account[member];
}
