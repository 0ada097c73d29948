import { TokenMint } from '../access/token-mint.ts';
import { type ApiKeyTransfer, transferAllApiKeys } from '../access/transfer-api-keys.ts';
import { findPersonByEmail, type PersonWithPassword } from '../account/person-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { OperatorError } from '../foundation/errors.ts';
import { disablePerson, enablePerson } from '../session/disable-person.ts';
import { PasswordLinkStore } from '../session/password-link-store.ts';
import { SecondFactorStore } from '../session/second-factor-store.ts';
import { type RunningInstallation, withRunningInstallation } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import type { UserActionName } from './user-actions.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface UserOptions {
  /** Of `disable`: who takes over the API keys. */
  readonly keysTo?: string;
}

/** What an operator does about one user. */
interface UserAction {
  /** The kind of entry in the audit log. */
  readonly kind: string;
  /** What is printed before what `run` returns. */
  readonly done?: string;
  /**
   * @returns what else there is to say
   * @throws OperatorError where it does not apply to this user
   */
  run(
    transaction: Database['kysely'],
    person: PersonWithPassword,
    asked: { readonly options: UserOptions; readonly installation: RunningInstallation },
  ): Promise<string | undefined>;
}

const actions: Readonly<Record<UserActionName, UserAction>> = {
  disable: {
    kind: 'user_disabled',
    done: 'is kept out, on every node within a second',
    async run(transaction, person, { options }) {
      const handed = await handKeysOver(transaction, person, options.keysTo);
      await disablePerson(transaction, person.id);
      return describe(handed);
    },
  },
  enable: {
    kind: 'user_enabled',
    done: 'can sign in again',
    async run(transaction, { id }) {
      await enablePerson(transaction, id);
      return undefined;
    },
  },
  'password-link': {
    kind: 'password_link_made',
    async run(transaction, { id, email, disabled }, { installation }) {
      const { config, key } = installation;
      if (disabled) throw new OperatorError(`${email} is disabled; enable the user first.`);
      const token = new TokenMint(await key()).mint('link');
      const store = new PasswordLinkStore({ kysely: transaction });
      if (!(await store.create(transaction, id, token.hash)))
        throw new OperatorError(`${email} got a link less than two minutes ago; wait a moment.`);
      const base = config.publicUrl ?? `http://${config.host}:${config.port}`;
      return `${base}/set-password/${token.text}`;
    },
  },
  'remove-second-factor': {
    kind: 'second_factor_removed',
    done: 'signs in with the password alone now',
    async run(transaction, { id, email }) {
      const store = new SecondFactorStore({ kysely: transaction });
      if ((await store.find(id)) === undefined)
        throw new OperatorError(`${email} has no second factor.`);
      await store.remove(id);
      return undefined;
    },
  },
};

/**
 * `user disable|enable|password-link|remove-second-factor EMAIL`, also while the service runs; each is recorded in the audit log.
 * @throws OperatorError for an address that nobody has
 */
export async function userCommand(
  name: UserActionName,
  email: string,
  options: UserOptions,
  environment: Environment,
): Promise<number> {
  const action = actions[name];
  return withRunningInstallation(environment, async (installation) => {
    const { database } = installation;
    const person = await findPersonByEmail(database.kysely, email);
    if (person === undefined) throw new OperatorError(`There is no user "${email}".`);
    const more = await database.kysely.transaction().execute(async (transaction) => {
      const said = await action.run(transaction, person, { options, installation });
      await recordCommand(transaction, { kind: action.kind, personId: person.id });
      return said;
    });
    const said = action.done === undefined ? '' : `Done: ${person.email} ${action.done}.`;
    process.stdout.write(`${said}${more ?? ''}\n`);
    return 0;
  });
}

/** @throws OperatorError where nobody with the address can take any of the keys over */
async function handKeysOver(
  transaction: Database['kysely'],
  { id, email }: PersonWithPassword,
  keysTo: string | undefined,
): Promise<ApiKeyTransfer> {
  const handed = await transferAllApiKeys(transaction, id, keysTo);
  if (handed === undefined)
    throw new OperatorError(
      `--keys-to must be the address of another person who owns an account where ${email} made API keys.`,
    );
  for (const [accountId, count] of handed.transferred)
    await recordCommand(transaction, {
      kind: 'api_keys_taken_over',
      personId: id,
      accountId,
      detail: { id: email, by: keysTo ?? '', count },
    });
  return handed;
}

function describe({
  transferred: takenOver,
  notTransferred: ending,
}: ApiKeyTransfer): string | undefined {
  const taken = [...takenOver.values()].reduce((sum, count) => sum + count, 0);
  if (taken + ending === 0) return undefined;
  const ended = `${ending} API ${ending === 1 ? 'key' : 'keys'} ended`;
  return taken === 0 ? ` ${ended}.` : ` ${ended}, ${taken} taken over.`;
}
