import type { ManifestPath } from './manifest-path.ts';
import type { RawManifest } from './manifest-schema.ts';

type Members = Record<string, unknown>;

/**
 * What is left of a manifest without what breaks its schema: an entry of a list of an account goes as a whole, as does any
 * other member of the account. Lists get holes, so that every entry keeps its place in them.
 * @param invalidPaths where the schema is broken; all of the places
 * @returns undefined where there is no list of accounts
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
  // These two each account has; nothing is found wrong with an empty one.
  else if (member === 'id' || member === 'name') account[member] = '';
  else delete account[member];
}
