import { findPersonByEmail, type PersonWithPassword } from '../account/person-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { OperatorError } from '../foundation/errors.ts';
import { disablePerson, enablePerson } from '../session/disable-person.ts';
import { SecondFactorStore } from '../session/second-factor-store.ts';
import { withRunning } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import type { UserActionName } from './user-actions.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What an operator does about one user. */
interface UserAction {
  /** The kind of entry in the audit log. */
  readonly kind: string;
  /** What is printed. */
  readonly done: string;
  /** @throws OperatorError where it does not apply to this user */
  run(transaction: Database['kysely'], person: PersonWithPassword): Promise<void>;
}

const actions: Readonly<Record<UserActionName, UserAction>> = {
  disable: {
    kind: 'user_disabled',
    done: 'is kept out, on every node within a second',
    run: (transaction, { id }) => disablePerson(transaction, id),
  },
  enable: {
    kind: 'user_enabled',
    done: 'can sign in again',
    run: (transaction, { id }) => enablePerson(transaction, id),
  },
  'remove-second-factor': {
    kind: 'second_factor_removed',
    done: 'signs in with the password alone now',
    async run(transaction, { id, email }) {
      const store = new SecondFactorStore({ kysely: transaction });
      if ((await store.find(id)) === undefined)
        throw new OperatorError(`${email} has no second factor.`);
      await store.remove(id);
    },
  },
};

/**
 * `user disable|enable|remove-second-factor EMAIL`, also while the service runs; each is recorded in the audit log.
 * @throws OperatorError for an address that nobody has
 */
export async function userCommand(
  name: UserActionName,
  email: string,
  environment: Environment,
): Promise<number> {
  const action = actions[name];
  return withRunning(environment, async ({ database }) => {
    const person = await findPersonByEmail(database.kysely, email);
    if (person === undefined) throw new OperatorError(`There is no user "${email}".`);
    await database.kysely.transaction().execute(async (transaction) => {
      await action.run(transaction, person);
      await recordCommand(transaction, { kind: action.kind, personId: person.id });
    });
    process.stdout.write(`Done: ${person.email} ${action.done}.\n`);
    return 0;
  });
}
