import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type Access,
  keyScopes,
  type Permission,
  permissions,
  permissionsOf,
} from '../../../src/accounts/access/permission.ts';
import type { Role } from '../../../src/accounts/account/account.ts';
import type { ManagementOperation } from '../../../src/operating/management/operation.ts';
import { routeTable } from '../../../src/operating/management/route-table.ts';
import { addKey } from '../../support/api-key.ts';
import { ManagementClient, openManagedShop } from '../../support/management-client.ts';
import { newAccountId, openSharedShop } from '../../support/test-shop.ts';

/** Nonexistent ids: an authorized caller gets a 4xx from the endpoint itself, and nothing changes. */
const values: Readonly<Record<string, string>> = {
  address: 'nobody@example.test',
  clientId: 'none',
  destination: 'nowhere.test',
  domain: 'nowhere.test',
  email: 'nobody@example.test',
  templateId: 't-none',
  listId: 'l-none',
  version: '9',
};
const unknownId = '019a0000-0000-7000-8000-000000000000';

type Caller = Role | 'stranger' | 'outsider';
const allCallers: readonly Caller[] = [
  'owner',
  'developer',
  'marketer',
  'viewer',
  'service',
  'outsider',
  'stranger',
];

const managed = await openSharedShop({ worker: false });
const { database, service, shop } = managed;
// Another account, so that the shop's owner doesn't own every account.
const otherAccount = newAccountId();
await openManagedShop(database, service, otherAccount);
const clients = new Map<Caller, ManagementClient>([
  ['owner', managed.owner],
  ['developer', await managed.as('developer')],
  ['marketer', await managed.as('marketer')],
  ['viewer', await managed.as('viewer')],
  ['service', await managed.as('service')],
  ['outsider', await managed.as(undefined)],
  ['stranger', new ManagementClient(service, undefined)],
]);

/** The status with which a caller is refused; undefined if the endpoint itself responds. */
function refusal(who: Caller, access: Access): number | undefined {
  if (access === 'public') return undefined;
  if (who === 'stranger') return 401;
  if (access === 'signed-in') return undefined;
  if (access === 'operate' || access === 'inbox') return 403;
  if (who === 'outsider') return 404;
  return permissionsOf[who].has(access) ? undefined : 403;
}

function fill(path: string): string {
  const given: typeof values = { ...values, accountId: shop.id };
  return path.replaceAll(/:(\w+)/g, (_all, name: string) => given[name] ?? unknownId);
}

for (const { method, path, access } of routeTable) {
  test(`${method} ${path} requires ${access}`, async () => {
    const filled = fill(path);
    for (const who of allCallers) {
      const client = clients.get(who);
      // The endpoint's own tests cover what everyone may do.
      if (client === undefined || (method !== 'GET' && refusal(who, access) === undefined))
        continue;
      const { status, body, headers } = await client.call(
        method,
        filled,
        method === 'GET' ? undefined : {},
      );
      const expected = refusal(who, access);
      if (expected === undefined) {
        assert.notEqual(status, 401, who);
        assert.notEqual(status, 403, who);
        assert.ok(status < 500, `${who}: ${JSON.stringify(body)}`);
        if (status === 404) assert.notEqual(body.detail, 'Account not found', who);
      } else {
        assert.equal(status, expected, `${who}: ${JSON.stringify(body)}`);
        assert.equal(headers.get('content-type'), 'application/problem+json; charset=utf-8');
        if (expected === 404) assert.equal(body.detail, 'Account not found');
      }
    }
  });
}

/** API keys of the shop: one with each scope alone, and one with all other scopes. */
const keys = new Map<string, ManagementClient>();
async function keyWith(name: string, scopes: readonly Permission[]): Promise<ManagementClient> {
  const known = keys.get(name);
  if (known !== undefined) return known;
  const client = new ManagementClient(service, await addKey(database, shop.id, { scopes }));
  keys.set(name, client);
  return client;
}

for (const { method, path, access } of routeTable) {
  test(`an API key can ${method} ${path} with the scope ${access} and no other`, async () => {
    const filled = fill(path);
    const body = method === 'GET' ? undefined : {};
    const scope = permissions.find((one) => one === access);
    const others = await keyWith(
      `all but ${scope}`,
      permissions.filter((one) => one !== scope),
    );
    if (scope === undefined) {
      const { status } = await others.call(method, filled, body);
      if (access === 'operate' || access === 'inbox') assert.equal(status, 403);
      else assert.ok(status !== 401 && status < 500, String(status));
      return;
    }
    const refused = await others.call(method, filled, body);
    assert.equal(refused.status, 403, refused.text);
    assert.equal(refused.body.permission, scope);
    if (!keyScopes.includes(scope)) {
      const own = await (await keyWith(scope, [scope])).call(method, filled, body);
      assert.equal(own.status, 403, 'only people have this permission');
      return;
    }
    if (method !== 'GET') return;
    const { status } = await (await keyWith(scope, [scope])).call(method, filled);
    assert.ok(status !== 401 && status !== 403 && status < 500, String(status));
    // The key works for its own account and no other.
    const otherAccountPath = filled.replace(`/${shop.id}`, `/${otherAccount}`);
    assert.equal(
      (await (await keyWith(scope, [scope])).call(method, otherAccountPath)).status,
      404,
    );
  });
}

const managementFolder = join(import.meta.dirname, '../../../src/operating/management');

test('every defined endpoint is in the route table exactly once', async () => {
  const listed = new Set(routeTable.map(({ operation: endpoint }) => endpoint));
  assert.equal(listed.size, routeTable.length);
  assert.equal(
    new Set(routeTable.map(({ method, path }) => `${method} ${path}`)).size,
    listed.size,
  );
  let written = 0;
  for await (const file of glob('**/*-routes.ts', { cwd: managementFolder })) {
    const exported = Object.entries(
      (await import(join(managementFolder, file))) as Record<string, unknown>,
    );
    const endpoints = exported
      // The endpoints of a resource are exported together as lines of the table.
      .flatMap(([name, value]) =>
        Array.isArray(value)
          ? value.map((row) => [name, row[3]] as const)
          : [[name, value] as const],
      )
      .filter(([, value]) => typeof value === 'object' && value !== null && 'handle' in value);
    for (const [name, value] of endpoints) {
      written += 1;
      assert.ok(
        listed.has(value as ManagementOperation),
        `${name} of ${file} stands in no line of the table`,
      );
    }
  }
  assert.equal(written, listed.size);
});

test('only the route table registers routes under /manage/v1', async () => {
  for await (const file of glob('**/*.ts', { cwd: join(managementFolder, '../..') })) {
    const text = await readFile(join(managementFolder, '../..', file), 'utf8');
    assert.doesNotMatch(text, /\.(?:get|put|post|delete|route)\(\s*['`"]\/manage/, file);
  }
});
