import type { Role } from '../../src/accounts/account/account.ts';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { setOperator } from '../../src/accounts/account/person-store.ts';
import type { Database } from '../../src/base/database/open-database.ts';
import type { AccountId, PersonId } from '../../src/base/values/ids.ts';
import { requireConformity } from './conform.ts';
import { sendRequest, type TextResponse } from './send-request.ts';
import { SessionWorld } from './session-world.ts';
import { openShop, type Shop } from './shop.ts';
import { signIn } from './sign-in.ts';
import type { TestService } from './test-service.ts';

/** Calls the management API as one caller and checks every response against the OpenAPI document. */
export class ManagementClient {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(
    service: Pick<TestService, 'url'>,
    authorization: string | undefined,
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.#base = `${service.url}/manage/v1`;
    this.#headers =
      authorization === undefined
        ? headers
        : { authorization: `Bearer ${authorization}`, ...headers };
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<TextResponse> {
    return this.call('GET', path, undefined, headers);
  }

  put(
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<TextResponse> {
    return this.call('PUT', path, body, headers);
  }

  post(
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<TextResponse> {
    return this.call('POST', path, body, headers);
  }

  delete(path: string, headers: Readonly<Record<string, string>> = {}): Promise<TextResponse> {
    return this.call('DELETE', path, undefined, headers);
  }

  /** An object is sent as JSON, a string as it is. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<TextResponse> {
    const sent =
      body === undefined
        ? {}
        : typeof body === 'string' || Buffer.isBuffer(body)
          ? { body }
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const address = `${this.#base}${path}`;
    const response = await sendRequest(address, {
      method,
      ...sent,
      headers: { ...this.#headers, ...('headers' in sent ? sent.headers : {}), ...headers },
    });
    requireConformity(method, address, response);
    return response;
  }
}

/** A shop whose owner, and others, can call the management API. */
export interface ManagedShop {
  readonly shop: Shop;
  readonly owner: ManagementClient;
  /** The path of the shop's account below `/manage/v1`. */
  readonly path: string;
  /** A new person with a role in the shop; undefined means no account at all. */
  as(role: Role | undefined): Promise<ManagementClient>;
  /** Also makes the owner an operator of the installation. */
  makeOperator(): Promise<void>;
}

export async function openManagedShop(
  database: Database,
  service: TestService,
  id = '46100',
): Promise<ManagedShop> {
  const shop = await openShop(database, { id });
  await setRole(database, shop.id, shop.owner.id, 'owner');
  const world = new SessionWorld(database, id);
  return {
    shop,
    owner: await signInToManagement(service, shop.owner.email),
    path: `/accounts/${id}`,
    async as(role) {
      const person = await world.addPerson({ accounts: [] });
      if (role !== undefined) await setRole(database, shop.id, person.id, role);
      return signInToManagement(service, person.email);
    },
    makeOperator: () => setOperator(database.kysely, shop.owner.id, true),
  };
}

/** A client that calls with a browser session. */
export async function signInToManagement(
  service: Pick<TestService, 'url'>,
  email: string,
): Promise<ManagementClient> {
  const cookie = await signIn(service, email);
  return new ManagementClient(service, undefined, {
    cookie,
    origin: service.url,
    'x-signalpost-request': '1',
  });
}

function setRole(
  database: Database,
  accountId: AccountId,
  personId: PersonId,
  role: Role,
): Promise<void> {
  return saveMembership(database.kysely, { accountId, personId, role });
}
