import { isOperator } from '../../access/operator-store.ts';
import { readMemberships } from '../../account/membership-store.ts';
import { onlyAccount, type ReachedPerson } from '../../account/reach.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId } from '../../foundation/ids.ts';
import type { BrowserSession } from '../browser/browser-session-store.ts';
import type { AccountProviderStore } from './account-provider-store.ts';
import type { SignInProvider } from './sign-in-provider.ts';

export interface SignInProvidersDependencies {
  readonly database: Database;
  readonly store: AccountProviderStore;
  /** Undefined: none. */
  readonly installation: SignInProvider | undefined;
}

/** The providers that people can sign in with: the installation's, and those of accounts. */
export class SignInProviders {
  readonly #dependencies: SignInProvidersDependencies;

  constructor(dependencies: SignInProvidersDependencies) {
    this.#dependencies = dependencies;
  }

  /** The installation's provider; undefined: none. */
  get installation(): SignInProvider | undefined {
    return this.#dependencies.installation;
  }

  /** The provider of an account, or the installation's; undefined: there is none. */
  async find(accountId: AccountId | undefined): Promise<SignInProvider | undefined> {
    const { store, database } = this.#dependencies;
    return accountId === undefined ? this.installation : store.find(database.kysely, accountId);
  }

  /** The provider of an account's sign-in link, or the installation's; undefined: there is none. */
  async findByLink(link: string | undefined): Promise<SignInProvider | undefined> {
    const { store, database } = this.#dependencies;
    return link === undefined ? this.installation : store.findByLink(database.kysely, link);
  }

  /** The provider that a session comes from; undefined: a password or passkey began it. */
  async findOf({
    identityId,
    reach,
  }: Pick<BrowserSession, 'identityId' | 'reach'>): Promise<SignInProvider | undefined> {
    return identityId === undefined ? undefined : this.find(onlyAccount(reach) ?? undefined);
  }

  /** The providers that a person can connect: the installation's and, except for operators, those of their accounts; as far as is reached. */
  async listFor(person: ReachedPerson): Promise<SignInProvider[]> {
    const { store, database } = this.#dependencies;
    const operates = await isOperator(database.kysely, person.personId);
    const memberships = operates ? [] : await readMemberships(database.kysely, person);
    const own = await store.list(
      database.kysely,
      memberships.map(({ accountId }) => accountId),
    );
    return this.installation !== undefined && person.reach === 'all'
      ? [this.installation, ...own]
      : own;
  }
}
