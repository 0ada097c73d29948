import { type ApiKey, readApiKeys } from '../../access/api-key-store.ts';
import type { AccountId } from '../../foundation/ids.ts';
import { withAccount } from './with-account.ts';

/** `key list ACCOUNT`: the API keys of an account, newest first. */
export function listKeys(
  accountText: string,
  options: { readonly json?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  return withAccount(accountText, environment, async ({ database }, accountId) => {
    const keys = await readApiKeys(database.kysely, accountId);
    const lines =
      options.json === true
        ? keys.map((key) => JSON.stringify(key))
        : keys.length === 0
          ? []
          : alignColumns([heading, ...keys.map((key) => describeKey(accountId, key))]);
    for (const line of lines) process.stdout.write(`${line}\n`);
    return 0;
  });
}

const heading = ['ID', 'KEY', 'NAME', 'SCOPES', 'LIMITS', 'CREATED BY', 'EXPIRES', 'LAST USED'];

function describeKey(accountId: AccountId, key: ApiKey): string[] {
  const limits = [...(key.networks ?? []), ...(key.templates ?? [])];
  return [
    key.id,
    key.hint === null ? '-' : `sp_${accountId}_…${key.hint}`,
    withoutControls(key.name),
    key.scopes.join(' '),
    limits.length === 0 ? '-' : limits.join(' '),
    key.createdBy ?? 'command line',
    key.expiresAt?.toISOString() ?? 'never',
    key.lastUsedAt?.toISOString() ?? 'never',
  ];
}

/** A key's name is untrusted, so remove terminal control characters. */
function withoutControls(name: string): string {
  return name.replaceAll(/\p{C}/gu, '�');
}

function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = heading.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
