import { TokenMint } from '../access/token-mint.ts';
import { findPersonByEmail, type PersonWithPassword } from '../account/person-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { OperatorError } from '../foundation/errors.ts';
import { disablePerson, enablePerson } from '../session/disable-person.ts';
import { PasswordLinkStore } from '../session/password-link-store.ts';
import { SecondFactorStore } from '../session/second-factor-store.ts';
import { type RunningInstallation, withRunning } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import type { UserActionName } from './user-actions.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What an operator does about one user. */
interface UserAction {
  /** The kind of entry in the audit log. */
  readonly kind: string;
  /** What is printed, unless `run` returns something else. */
  readonly done: string;
  /** @throws OperatorError where it does not apply to this user */
  run(
    transaction: Database['kysely'],
    person: PersonWithPassword,
    installation: RunningInstallation,
  ): Promise<string | undefined>;
}

const actions: Readonly<Record<UserActionName, UserAction>> = {
  disable: {
    kind: 'user_disabled',
    done: 'is kept out, on every node within a second',
    async run(transaction, { id }) {
      await disablePerson(transaction, id);
      return undefined;
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
    done: '',
    async run(transaction, { id, email, disabled }, { config, key }) {
      if (disabled) throw new OperatorError(`${email} is disabled; enable the user first.`);
      const token = new TokenMint(await key()).mint('link');
      const store = new PasswordLinkStore({ kysely: transaction });
      if (!(await store.create(transaction, id, token.hash, 0)))
        throw new OperatorError(`${email} got a link less than two minutes ago; wait a moment.`);
      const base = config.publicUrl ?? `http://${config.host}:${config.port}`;
      return `${base}/set-password/${token.text}\n`;
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
  environment: Environment,
): Promise<number> {
  const action = actions[name];
  return withRunning(environment, async (installation) => {
    const { database } = installation;
    const person = await findPersonByEmail(database.kysely, email);
    if (person === undefined) throw new OperatorError(`There is no user "${email}".`);
    const printed = await database.kysely.transaction().execute(async (transaction) => {
      const said = await action.run(transaction, person, installation);
      await recordCommand(transaction, { kind: action.kind, personId: person.id });
      return said;
    });
    process.stdout.write(printed ?? `Done: ${person.email} ${action.done}.\n`);
    return 0;
  });
}
