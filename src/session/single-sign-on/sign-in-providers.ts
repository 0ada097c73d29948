import type { AccountId } from '../../foundation/ids.ts';
import type { SignInProvider } from './sign-in-provider.ts';

/** The providers that people can sign in with: the installation's, and those of accounts. */
export class SignInProviders {
  /** Undefined: none. */
  readonly installation: SignInProvider | undefined;
  readonly #findAccountProvider: (accountId: AccountId) => Promise<SignInProvider | undefined>;

  constructor(
    installation: SignInProvider | undefined,
    findAccountProvider: (accountId: AccountId) => Promise<SignInProvider | undefined>,
  ) {
    this.installation = installation;
    this.#findAccountProvider = findAccountProvider;
  }

  /** The provider of an account, or the installation's; undefined: there is none. */
  async find(accountId: AccountId | undefined): Promise<SignInProvider | undefined> {
    return accountId === undefined ? this.installation : this.#findAccountProvider(accountId);
  }
}
