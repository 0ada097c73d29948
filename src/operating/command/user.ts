import { type ApiKeyTransfer, transferAllApiKeys } from '../../accounts/access/issue-api-key.ts';
import { TokenMint } from '../../accounts/access/token-mint.ts';
import { type PersonFacts, readPeople } from '../../accounts/account/people-page-store.ts';
import { findPersonByEmail, type PersonWithPassword } from '../../accounts/account/person-store.ts';
import { type MemberFacts, readMemberFacts } from '../../accounts/invitation/invitation-store.ts';
import { disablePerson, enablePerson } from '../../accounts/sign-in/disable-person.ts';
import { createPasswordLink } from '../../accounts/sign-in/one-time-link-store.ts';
import { removeSecondFactors } from '../../accounts/sign-in/second-factor-store.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { runChange } from '../change/change-resource.ts';
import { signInSettingsOf } from '../config/config.ts';
import { onInstallation, type RunningInstallation } from './open-running.ts';
import { readAccountId, requireAccount } from './read-account.ts';
import { recordCommand } from './record-command.ts';
import { serviceUrl } from './service-url.ts';
import { printResult, printTable } from './shell.ts';

interface UserOptions {
  /** For `disable`: the new owner of the API keys. */
  readonly keysTo?: string;
}

/** An action on one user. */
interface UserAction {
  /** The kind of audit log entry. */
  readonly kind: string;
  /** Printed before the result of `run`. */
  readonly done?: string;
  /**
   * @returns additional output
   * @throws OperatorError if the action doesn't apply to this user
   */
  run(
    transaction: Kysely,
    person: PersonWithPassword,
    context: { readonly options: UserOptions; readonly installation: RunningInstallation },
  ): Promise<string | undefined>;
}

/** A command on one user, even while the service runs; recorded in the audit log. @throws OperatorError if the user doesn't exist */
function userCommand(action: UserAction, resultName = 'detail') {
  return onInstallation((email: string, options: UserOptions) => async (installation) => {
    const { database, shell } = installation;
    const person = await findPersonByEmail(database.kysely, email);
    if (person === undefined) throw new OperatorError(`User "${email}" not found.`);
    const details = await runChange({ database }, undefined, async (transaction) => {
      const output = await action.run(transaction, person, { options, installation });
      await recordCommand(transaction, { kind: action.kind, personId: person.id });
      return output;
    });
    const summary = action.done === undefined ? '' : `Done: ${person.email} ${action.done}.`;
    printResult(shell, `${summary}${details ?? ''}`, {
      email: person.email,
      [resultName]: details?.trim() ?? null,
    });
  });
}

const pageSize = 1_000;

/** `user list [ACCOUNT]`: the users of an account and its open invitations, or all users. */
const listUsers = onInstallation((account: string | undefined) => {
  const accountId = account === undefined ? undefined : readAccountId(account);
  return async ({ shell, database: { kysely } }) => {
    if (accountId === undefined) {
      const people = await readAll((page) => readPeople(kysely, page));
      return printTable<PersonFacts>(shell, people, [
        ['email', ({ email }) => email],
        ['name', ({ name }) => name],
        [
          'accounts',
          ({ accounts }) => accounts.map((one) => `${one.accountId} (${one.role})`).join(', '),
        ],
        ['state', ({ disabled }) => (disabled ? 'disabled' : 'active')],
        ['operator', ({ operator }) => (operator ? 'yes' : 'no')],
      ]);
    }
    await requireAccount(kysely, accountId);
    const members = await readAll((page) => readMemberFacts(kysely, accountId, page));
    printTable<Omit<MemberFacts, 'personId'>>(
      shell,
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
  };
});

export const userCommands = {
  list: listUsers,
  disable: userCommand({
    kind: 'user_disabled',
    done: 'is disabled, on every node within a second',
    async run(transaction, person, { options, installation }) {
      const transfer = await transferKeys(transaction, person, options.keysTo);
      const refusal = await disablePerson(
        transaction,
        signInSettingsOf(installation.config),
        person.id,
      );
      if (refusal !== undefined) throw new OperatorError(`${refusal}.`);
      return describe(transfer);
    },
  }),
  enable: userCommand({
    kind: 'user_enabled',
    done: 'can sign in again',
    async run(transaction, { id }) {
      await enablePerson(transaction, id);
      return undefined;
    },
  }),
  'password-link': userCommand(
    {
      kind: 'password_link_made',
      async run(transaction, { id, email, disabled }, { installation }) {
        const { config, key } = installation;
        if (disabled) throw new OperatorError(`${email} is disabled. Enable the user first.`);
        const token = new TokenMint(await key()).mint('link');
        if (!(await createPasswordLink(transaction, id, token.hash)))
          throw new OperatorError(`${email} got a link less than two minutes ago. Wait and retry.`);
        const base = serviceUrl(config);
        return `${base}/set-password/${token.text}`;
      },
    },
    'link',
  ),
  'remove-second-factor': userCommand({
    kind: 'second_factor_removed',
    done: 'now signs in with only the password',
    async run(transaction, { id, email }) {
      if (!(await removeSecondFactors(transaction, id)))
        throw new OperatorError(`${email} has no second factor.`);
      return undefined;
    },
  }),
};

/** @throws OperatorError if the new owner can't take over any of the keys */
async function transferKeys(
  transaction: Kysely,
  { id, email }: PersonWithPassword,
  keysTo: string | undefined,
): Promise<ApiKeyTransfer> {
  const transfer = await transferAllApiKeys(transaction, id, keysTo);
  if (transfer === undefined)
    throw new OperatorError(
      `--keys-to must be the email address of another user who owns an account where ${email} created API keys.`,
    );
  for (const [accountId, count] of transfer.transferred)
    await recordCommand(transaction, {
      kind: 'api_keys_taken_over',
      personId: id,
      accountId,
      detail: { id: email, by: keysTo ?? '', count },
    });
  return transfer;
}

function describe({ transferred, notTransferred: revoked }: ApiKeyTransfer): string | undefined {
  const total = [...transferred.values()].reduce((sum, count) => sum + count, 0);
  if (total + revoked === 0) return undefined;
  const summary = `${revoked} API ${revoked === 1 ? 'key' : 'keys'} revoked`;
  return total === 0 ? ` ${summary}.` : ` ${summary}, ${total} transferred.`;
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
