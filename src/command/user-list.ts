import { type PersonFacts, readPeople } from '../account/people-page-store.ts';
import { type MemberFacts, readMemberFacts } from '../session/invitation/invitation-store.ts';
import { withRunningInstallation } from './open-running.ts';
import { readAccountId } from './read-account.ts';
import { requireAccount } from './require-account.ts';
import { type CommandShell, type JsonOption, printTable } from './shell.ts';

const pageSize = 1_000;

/**
 * `user list [ACCOUNT]`: the users of an account and its open invitations, or all users.
 * @throws OperatorError if the account doesn't exist
 */
export async function listUsers(
  accountText: string | undefined,
  options: JsonOption,
  shell: CommandShell,
): Promise<number> {
  const accountId = accountText === undefined ? undefined : readAccountId(accountText);
  return withRunningInstallation(shell, async ({ database: { kysely } }) => {
    if (accountId === undefined) {
      printPeople(shell, options, await readAll((page) => readPeople(kysely, page)));
      return 0;
    }
    await requireAccount(kysely, accountId);
    const members = await readAll((page) => readMemberFacts(kysely, accountId, page));
    printTable<Omit<MemberFacts, 'personId'>>(
      shell,
      options,
      members.map(({ personId: _, ...facts }) => facts),
      [
        ['email', ({ email }) => email],
        ['name', ({ name }) => name],
        ['role', ({ role }) => role],
        ['state', describeState],
        ['second factor', ({ hasSecondFactor }) => (hasSecondFactor ? 'yes' : 'no')],
        ['since', ({ since }) => since.toISOString()],
      ],
    );
    return 0;
  });
}

function printPeople(
  shell: CommandShell,
  options: JsonOption,
  people: readonly PersonFacts[],
): void {
  printTable<PersonFacts>(shell, options, people, [
    ['email', ({ email }) => email],
    ['name', ({ name }) => name],
    [
      'accounts',
      ({ accounts }) => accounts.map(({ accountId, role }) => `${accountId} (${role})`).join(', '),
    ],
    ['state', ({ disabled }) => (disabled ? 'disabled' : 'active')],
    ['operator', ({ operator }) => (operator ? 'yes' : 'no')],
  ]);
}

function describeState({
  disabled,
  hasPassword,
  invitation,
}: Omit<MemberFacts, 'personId'>): string {
  if (invitation !== null) return `invited, until ${invitation.expiresAt.toISOString()}`;
  if (disabled) return 'disabled';
  return hasPassword ? 'active' : 'no password';
}

/** All pages of people, who are ordered by address. */
async function readAll<Item extends { readonly email: string }>(
  read: (page: { readonly after: string; readonly limit: number }) => Promise<Item[]>,
): Promise<Item[]> {
  const all: Item[] = [];
  for (;;) {
    const page = await read({ after: all.at(-1)?.email ?? '', limit: pageSize });
    all.push(...page);
    if (page.length < pageSize) return all;
  }
}
