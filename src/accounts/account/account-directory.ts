import { batchReads } from '../../base/database/batch-reads.ts';
import { Cache } from '../../base/database/cache.ts';
import type { ChangeListener } from '../../base/database/change-listener.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { AccountId, PersonId } from '../../base/values/ids.ts';
import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import type { Account, Membership, Person } from './account.ts';
import { accountTopic, readAccounts } from './account-store.ts';
import { readMemberships } from './membership-store.ts';
import { personTopic, readPerson } from './person-store.ts';
import { doesReach, type ReachedPerson } from './reach.ts';

/**
 * Caches accounts, people and memberships; entries are current within a second of a change on any node. Returns
 * promises only if the database is queried.
 */
export class AccountDirectory {
  readonly #accounts: Cache<Account>;
  readonly #people: Cache<Person>;
  readonly #memberships: Cache<readonly Membership[]>;
  readonly #byAccount = new WeakMap<readonly Membership[], ReadonlyMap<AccountId, Membership>>();

  constructor(database: Database, changes: ChangeListener) {
    const { kysely } = database;
    const readOne = batchReads((ids: readonly AccountId[]) => readAccounts(kysely, ids));
    this.#accounts = new Cache(changes, accountTopic, (id) => readOne(id as AccountId));
    this.#people = new Cache(changes, personTopic, (id) => readPerson(kysely, id as PersonId));
    this.#memberships = new Cache(changes, personTopic, (id) =>
      readMemberships(kysely, { personId: id as PersonId, reach: 'all' }),
    );
  }

  /** The account, suspended or not; undefined if it doesn't exist. */
  account(accountId: AccountId): Promise<Account | undefined> | Account | undefined {
    return this.#accounts.get(accountId);
  }

  /** The person, disabled or not; undefined if it doesn't exist. */
  person(personId: PersonId): Promise<Person | undefined> | Person | undefined {
    return this.#people.get(personId);
  }

  /** A person's memberships that are reached, oldest first: the first one is the default account of a password token. */
  async memberships({ personId, reach }: ReachedPerson): Promise<readonly Membership[]> {
    const all = await this.#membershipsOf(personId);
    return all.filter(({ accountId }) => doesReach(reach, accountId));
  }

  #membershipsOf(personId: PersonId): MaybePromise<readonly Membership[]> {
    const found = this.#memberships.get(personId);
    return found instanceof Promise ? found.then((list) => list ?? []) : (found ?? []);
  }

  /**
   * A person's membership of an account; undefined if not a member. Constant time, however many memberships there are.
   */
  membership(personId: PersonId, accountId: AccountId): MaybePromise<Membership | undefined> {
    const list = this.#membershipsOf(personId);
    return list instanceof Promise
      ? list.then((found) => this.#indexOf(found).get(accountId))
      : this.#indexOf(list).get(accountId);
  }

  #indexOf(list: readonly Membership[]): ReadonlyMap<AccountId, Membership> {
    const cached = this.#byAccount.get(list);
    if (cached !== undefined) return cached;
    const index = new Map(list.map((membership) => [membership.accountId, membership]));
    this.#byAccount.set(list, index);
    return index;
  }
}
