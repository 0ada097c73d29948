import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/values/ids.ts';
import { addKey } from '../../support/api-key.ts';
import { ManagementClient } from '../../support/management-client.ts';
import { openSharedShop } from '../../support/test-shop.ts';

const { database, service, owner, path, shop, as } = await openSharedShop();
await database.pool.query(`update person set name = 'Ann Lee' where id = $1`, [shop.owner.id]);

interface Entry {
  readonly kind: string;
  readonly name: string | null;
  readonly keyName: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

async function list(query: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let cursor: unknown = null; ; ) {
    const next = cursor === null ? '' : `&cursor=${cursor}`;
    const { status, body, text } = await owner.get(`${path}/audit?${query}${next}`);
    assert.equal(status, 200, text);
    entries.push(...(body.items as Entry[]));
    if (body.nextCursor === null) return entries;
    cursor = body.nextCursor;
  }
}

const kinds = async (query: string) => (await list(query)).map(({ kind }) => kind);

test('an entry says who did it and what settings changed from and to, but no personal values', async () => {
  await owner.put(`${path}/lists/l-1`, { name: 'Buyers', description: 'x'.repeat(400) });
  await owner.put(`${path}/lists/l-1`, { name: 'Customers', description: '' });
  await owner.put(`${path}/lists/l-1/contacts/eve@people.test`, { fields: { Name: 'Eve' } });
  await owner.put(`${path}/lists/l-1/contacts/eve@people.test`, { fields: { Name: 'Eva' } });
  const token = await addKey(database, shop.id, { scopes: ['lists:read', 'lists:write'] });
  const key = new ManagementClient(service, token);
  await key.put(`${path}/lists/l-1`, { name: 'Customers', folderName: 'Shop' });
  await key.delete(`${path}/lists/l-1`);
  const [removed, moved, contact, , changed, created] = await list('thing=list');
  assert.deepEqual([created?.kind, created?.name], ['list_created', 'Ann Lee']);
  assert.equal(created?.detail.name, 'Buyers');
  const changes = (changed?.detail.changes ?? []) as { name: string; from: string; to: string }[];
  assert.deepEqual(changes[0], { name: 'name', from: 'Buyers', to: 'Customers' });
  assert.equal(changes[1]?.name, 'description');
  assert.equal(changes[1]?.from.length, 301, 'long values are cut');
  assert.equal(contact?.kind, 'contact_changed');
  assert.deepEqual(contact?.detail.changes, []);
  assert.deepEqual([moved?.name, moved?.keyName], [null, 'Test']);
  assert.deepEqual([removed?.kind, removed?.detail.name], ['list_removed', 'Customers']);
  const made = await owner.post(`${path}/keys`, { name: 'ci', scopes: ['lists:read'] });
  await owner.delete(`${path}/keys/${made.body.id}`);
  assert.deepEqual(
    (await list('thing=key')).map(({ kind, detail }) => [kind, detail.name]),
    [
      ['api_key_removed', 'ci'],
      ['api_key_created', 'ci'],
    ],
  );
});

test('entries are found by words, person, thing and period, also beyond what one statement reads', async () => {
  const found = ['api_key_removed', 'api_key_created'];
  assert.deepEqual(await kinds('search=Ann%20API%20KEY%20ci'), found);
  assert.deepEqual(await kinds('search=ci%20removed'), ['api_key_removed']);
  assert.deepEqual(await kinds('search=Buyers%20Customers'), ['list_changed']);
  assert.deepEqual(await kinds('search=%25'), []);
  assert.deepEqual(await kinds(`thing=key&email=${shop.owner.email.toUpperCase()}`), found);
  assert.deepEqual(await kinds('thing=key&email=nobody@shop.test'), []);
  assert.deepEqual(await kinds('thing=key&until=2020-01-01'), []);
  assert.deepEqual(await kinds('thing=key&kind=api_key_created'), ['api_key_created']);
  assert.deepEqual(await kinds('thing=key&limit=1'), found);
  assert.deepEqual(await kinds('thing=webhook'), []);
  assert.equal((await owner.get(`${path}/audit?thing=other`)).status, 422);
  assert.equal((await owner.get(`${path}/audit?search=${'x'.repeat(201)}`)).status, 422);
  await database.pool.query(
    `insert into audit_event (id, kind, outcome, account_id, detail, at)
     select gen_random_uuid(), 'code_grant', 'success', $1, '{}', now() + n * interval '1 ms'
     from generate_series(1, 2500) as n`,
    [shop.id],
  );
  await database.pool.query(
    `insert into audit_event (id, kind, outcome, account_id, detail) values ($1, 'sign_in', 'success', null, '{"id":"ci"}')`,
    [newId()],
  );
  assert.deepEqual(await kinds('search=api%20key%20ci'), found, 'and none of the installation');
});

test('found entries are exported as CSV; viewers can neither read nor export them', async () => {
  const { status, text, headers } = await owner.get(`${path}/audit-export?thing=key`);
  assert.equal(status, 200);
  assert.match(headers.get('content-disposition') ?? '', /filename="audit\.csv"/);
  const lines = text.trimEnd().split('\r\n');
  assert.match(lines[0] ?? '', /^at,kind,outcome,email,name,api_key,/);
  assert.equal(lines.length, 3);
  assert.match(lines[1] ?? '', /,api_key_removed,success,[^,]+,Ann Lee,/);
  const all = await owner.get(`${path}/audit-export?kind=code_grant`);
  assert.equal(all.text.trimEnd().split('\r\n').length, 2501, 'page after page');
  assert.equal((await owner.get(`${path}/audit-export?from=2025-02-29`)).status, 422);
  const viewer = await as('viewer');
  assert.equal((await viewer.get(`${path}/audit-export`)).status, 403);
});
