import { findPersonByEmail, type PersonWithPassword } from '../account/person-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { OperatorError } from '../foundation/errors.ts';
import { newId } from '../foundation/ids.ts';
import { AuditStore } from '../session/audit-store.ts';
import { disablePerson, enablePerson } from '../session/disable-person.ts';
import { SecondFactorStore } from '../session/second-factor-store.ts';
import { withRunning } from './open-running.ts';
import type { UserActionName } from './user-actions.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What an operator does about one user. */
interface UserAction {
  /** The kind of entry in the audit log. */
  readonly kind: string;
  /** What is printed. */
  readonly done: string;
  /** @throws OperatorError where it does not apply to this user */
  run(database: Database, person: PersonWithPassword): Promise<void>;
}

const actions: Readonly<Record<UserActionName, UserAction>> = {
  disable: {
    kind: 'user_disabled',
    done: 'is kept out, on every node within a second',
    run: (database, { id }) => disablePerson(database, id),
  },
  enable: {
    kind: 'user_enabled',
    done: 'can sign in again',
    run: (database, { id }) => enablePerson(database, id),
  },
  'remove-second-factor': {
    kind: 'second_factor_removed',
    done: 'signs in with the password alone now',
    async run(database, { id, email }) {
      const store = new SecondFactorStore(database);
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
    await action.run(database, person);
    await new AuditStore(database).record({
      kind: action.kind,
      outcome: 'success',
      personId: person.id,
      origin: { remoteAddress: 'command line', requestId: newId() },
    });
    process.stdout.write(`Done: ${person.email} ${action.done}.\n`);
    return 0;
  });
}
