import { saveAccount } from '../../src/accounts/account/account-store.ts';
import { hashPassword } from '../../src/accounts/account/hash-password.ts';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { createPerson } from '../../src/accounts/account/person-store.ts';
import { ClientSecretHasher } from '../../src/accounts/oauth/authenticate-client.ts';
import {
  type GrantType,
  type Integration,
  saveIntegration,
} from '../../src/accounts/oauth/integration-store.ts';
import type { Database } from '../../src/base/database/open-database.ts';
import type { AccountId, ClientId, PersonId } from '../../src/base/values/ids.ts';
import { sendRequest, type TextResponse } from './send-request.ts';
import { createTestDatabase } from './test-database.ts';
import {
  startNode,
  type TestService,
  type TestSettings,
  testKey,
  testPasswordMemory,
} from './test-service.ts';

export const password = 'correct horse battery';
/** All test users share one hash. */
const passwordHash = hashPassword(password, testPasswordMemory);

export const clientSecret = 'a client secret: with + % & spaces';

let serial = 0;

/** The fields of a token request; pairs if one name has several values. */
export type TokenRequestFields =
  | Readonly<Record<string, string>>
  | readonly (readonly [string, string])[];

/** People and integrations of one account, for tests of session authentication. */
export class SessionWorld {
  readonly #database: Database;
  readonly accountId: AccountId;

  constructor(database: Database, accountId = '1000') {
    this.#database = database;
    this.accountId = accountId as AccountId;
  }

  async addAccount(id: string = this.accountId, suspended = false): Promise<AccountId> {
    await saveAccount(this.#database.kysely, {
      id: id as AccountId,
      name: `Shop ${id}`,
      addOns: new Set(),
      suspended,
      retentionDays: 90,
    });
    return id as AccountId;
  }

  /** A person with the test password who belongs to the given accounts. */
  async addPerson(
    options: { accounts?: readonly string[]; withoutPassword?: boolean } = {},
  ): Promise<{ id: PersonId; email: string }> {
    serial += 1;
    const { id, email } = await createPerson(this.#database.kysely, {
      email: `person${serial}@shop.test`,
      name: `Person ${serial}`,
      passwordHash: options.withoutPassword ? undefined : await passwordHash,
    });
    for (const accountId of options.accounts ?? [this.accountId])
      await saveMembership(this.#database.kysely, {
        accountId: accountId as AccountId,
        personId: id,
        role: 'developer',
      });
    return { id, email };
  }

  async addIntegration(options: Partial<Integration> = {}): Promise<Integration> {
    serial += 1;
    const integration: Integration = {
      clientId: `client${serial}` as ClientId,
      accountId: this.accountId,
      name: `Integration ${serial}`,
      redirectUri: 'https://localhost/callback',
      grants: new Set<GrantType>(['password', 'authorization_code', 'refresh_token']),
      disabled: false,
      secretHash: new ClientSecretHasher(testKey).hash(clientSecret),
      ...options,
    };
    await saveIntegration(this.#database.kysely, integration);
    return integration;
  }
}

/** A service for this file with the account 1000, which has no people yet; `startOther` starts another node of it. */
export async function openSessionWorld(settings: TestSettings = {}) {
  const stored = await createTestDatabase();
  const service = await startNode(stored, settings);
  const world = new SessionWorld(stored.database);
  await world.addAccount();
  const startOther = (): Promise<TestService> => startNode(stored, settings);
  return { ...stored, service, world, startOther };
}

/** Sends a form to the token endpoint of a node. */
export function postToken(
  node: { readonly url: string },
  fields: TokenRequestFields,
  headers: Readonly<Record<string, string>> = {},
  path = '/token',
): Promise<TextResponse> {
  const pairs = isPairs(fields) ? fields : Object.entries(fields);
  return sendRequest(`${node.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(
      [...pairs].map(([name, value]): [string, string] => [name, value]),
    ).toString(),
  });
}

function isPairs(fields: TokenRequestFields): fields is readonly (readonly [string, string])[] {
  return Array.isArray(fields);
}

/** The fields of a password grant. */
export function passwordFields(
  person: { readonly email: string },
  client: { readonly clientId: string },
): Record<string, string> {
  return {
    grant_type: 'password',
    username: person.email,
    password,
    client_id: client.clientId,
    client_secret: clientSecret,
  };
}

/** The fields of a refresh grant. */
export function refreshFields(
  refreshToken: unknown,
  client: { readonly clientId: string },
): Record<string, string> {
  return {
    grant_type: 'refresh_token',
    refresh_token: String(refreshToken),
    client_id: client.clientId,
    client_secret: clientSecret,
  };
}
