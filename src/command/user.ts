import { handKeysOverEverywhere, type KeysHandedOver } from '../access/hand-keys-over.ts';
import { findPersonByEmail, type PersonWithPassword } from '../account/person-store.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { OperatorError } from '../foundation/errors.ts';
import { disablePerson, enablePerson } from '../session/disable-person.ts';
import { SecondFactorStore } from '../session/second-factor-store.ts';
import { withRunning } from './open-running.ts';
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
  /** What is printed. */
  readonly done: string;
  /**
   * @returns what else there is to say
   * @throws OperatorError where it does not apply to this user
   */
  run(
    transaction: Database['kysely'],
    person: PersonWithPassword,
    options: UserOptions,
  ): Promise<string | undefined>;
}

const actions: Readonly<Record<UserActionName, UserAction>> = {
  disable: {
    kind: 'user_disabled',
    done: 'is kept out, on every node within a second',
    async run(transaction, person, { keysTo }) {
      const handed = await handKeysOver(transaction, person, keysTo);
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
 * `user disable|enable|remove-second-factor EMAIL`, also while the service runs; each is recorded in the audit log.
 * @throws OperatorError for an address that nobody has
 */
export async function userCommand(
  name: UserActionName,
  email: string,
  options: UserOptions,
  environment: Environment,
): Promise<number> {
  const action = actions[name];
  return withRunning(environment, async ({ database }) => {
    const person = await findPersonByEmail(database.kysely, email);
    if (person === undefined) throw new OperatorError(`There is no user "${email}".`);
    const more = await database.kysely.transaction().execute(async (transaction) => {
      const said = await action.run(transaction, person, options);
      await recordCommand(transaction, { kind: action.kind, personId: person.id });
      return said;
    });
    process.stdout.write(`Done: ${person.email} ${action.done}.${more ?? ''}\n`);
    return 0;
  });
}

/** @throws OperatorError where nobody with the address can take any of the keys over */
async function handKeysOver(
  transaction: Database['kysely'],
  { id, email }: PersonWithPassword,
  keysTo: string | undefined,
): Promise<KeysHandedOver> {
  const handed = await handKeysOverEverywhere(transaction, id, keysTo);
  if (handed === undefined)
    throw new OperatorError(
      `--keys-to must be the address of another person who owns an account where ${email} made API keys.`,
    );
  for (const [accountId, count] of handed.takenOver)
    await recordCommand(transaction, {
      kind: 'api_keys_taken_over',
      personId: id,
      accountId,
      detail: { id: email, by: keysTo ?? '', count },
    });
  return handed;
}

function describe({ takenOver, ending }: KeysHandedOver): string | undefined {
  const taken = [...takenOver.values()].reduce((sum, count) => sum + count, 0);
  if (taken + ending === 0) return undefined;
  const ended = `${ending} API ${ending === 1 ? 'key' : 'keys'} ended`;
  return taken === 0 ? ` ${ended}.` : ` ${ended}, ${taken} taken over.`;
}
