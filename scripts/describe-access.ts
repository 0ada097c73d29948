import { keyScopes, permissions, permissionsOf } from '../src/accounts/access/permission.ts';
import { tokenOperations } from '../src/accounts/access/token-operations.ts';
import type { Role } from '../src/accounts/account/account.ts';

/** Roles by increasing permissions, then the role for programs. */
const roles: readonly Role[] = ['viewer', 'marketer', 'developer', 'owner', 'service'];

/** The tables of docs/how-it-works/authentication.md: what access tokens can do, and permissions by role. */
export function describeAccess(): Readonly<Record<'operations' | 'permissions', string>> {
  const operations = [
    '| request | permission | allows |',
    '| --- | --- | --- |',
    ...Object.values(tokenOperations).map(
      ({ method, path, permission, allows }) =>
        `| \`${method} ${path}\` | \`${permission}\` | ${allows} |`,
    ),
  ];
  const matrix = [
    `| permission | ${roles.join(' | ')} | API key |`,
    `| --- |${' :-: |'.repeat(roles.length + 1)}`,
    ...permissions.map((permission) => {
      const held = roles.map((role) => permissionsOf[role].has(permission));
      const cells = [...held, keyScopes.includes(permission)].map((has) => (has ? '✓' : ''));
      return `| \`${permission}\` | ${cells.join(' | ')} |`;
    }),
  ];
  return { operations: operations.join('\n'), permissions: matrix.join('\n') };
}
