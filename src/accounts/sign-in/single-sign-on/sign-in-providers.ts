import type { Kysely } from '../../../base/database/open-database.ts';
import type { AccountId } from '../../../base/values/ids.ts';
import { isOperator } from '../../access/operator-store.ts';
import { readMemberships } from '../../account/membership-store.ts';
import { onlyAccount, type ReachedPerson } from '../../account/reach.ts';
import type { BrowserSession } from '../browser/browser-session-store.ts';
import type { SessionModuleDependencies } from '../session-dependencies.ts';
import { AccountProviderStore } from './account-provider-store.ts';
import type { SignInProvider } from './sign-in-provider.ts';

/** The providers that people can sign in with: the installation's, and those of accounts. */
export class SignInProviders {
  readonly #kysely: Kysely;
  readonly #store: AccountProviderStore;
  /** The installation's provider; undefined: none. */
  readonly installation: SignInProvider | undefined;

  constructor({ database, key, signInProvider }: SessionModuleDependencies) {
    this.#kysely = database.kysely;
    this.#store = new AccountProviderStore(key);
    this.installation = signInProvider;
  }

  /** The provider of an account, or the installation's; undefined: there is none. */
  async find(accountId: AccountId | undefined): Promise<SignInProvider | undefined> {
    return accountId === undefined ? this.installation : this.#store.find(this.#kysely, accountId);
  }

  /** The provider of an account's sign-in link, or the installation's; undefined: there is none. */
  async findByLink(link: string | undefined): Promise<SignInProvider | undefined> {
    return link === undefined ? this.installation : this.#store.findByLink(this.#kysely, link);
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
    const operates = await isOperator(this.#kysely, person.personId);
    const memberships = operates ? [] : await readMemberships(this.#kysely, person);
    const accounts = memberships.map(({ accountId }) => accountId);
    const own = await this.#store.list(this.#kysely, accounts);
    return this.installation !== undefined && person.reach === 'all'
      ? [this.installation, ...own]
      : own;
  }
}
