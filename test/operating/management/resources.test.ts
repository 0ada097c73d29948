import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { testAccountFirst } from '../../support/account-first.ts';
import { ManagementClient } from '../../support/management-client.ts';
import { signIn } from '../../support/sign-in.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, service, owner, path, as, makeOperator } = await openTestShop({ worker: false });
await makeOperator();

async function auditKinds(): Promise<string[]> {
  const { body } = await owner.get(`${path}/audit?limit=10`);
  return (body.items as { kind: string }[]).map(({ kind }) => kind);
}

test('PUT creates a resource, repeating it changes nothing, and it is audited once', async () => {
  const sender = `${path}/senders/News@Shop.test`;
  const made = await owner.put(sender, { displayNames: ['News'] });
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(made.body, {
    address: 'news@shop.test',
    displayNames: ['News'],
    verified: false,
    verifiedBy: null,
    sendingDomain: null,
    domainState: null,
    linkExpiresAt: null,
  });
  const again = await owner.put(sender, { displayNames: ['News'] });
  assert.equal(again.status, 200);
  assert.equal(again.headers.get('etag'), made.headers.get('etag'));
  assert.deepEqual(
    (await auditKinds()).filter((kind) => kind.startsWith('sender')),
    ['sender_created'],
  );
});

test('PUT keeps omitted members of every kind of resource', async () => {
  const resources: [where: string, whole: object, minimal: object][] = [
    [
      'integrations/keeps',
      {
        name: 'Keeps',
        redirectUri: 'https://keeps.test/back',
        grants: ['authorization_code'],
        requirePkce: true,
        disabled: true,
      },
      { name: 'Keeps' },
    ],
    ['senders/keeps@shop.test', { displayNames: ['One', 'Two'], verified: true }, {}],
    [
      'lists/l-keeps',
      { name: 'Keeps', folderName: 'Folder', description: 'Kept' },
      { name: 'Keeps' },
    ],
    ['templates/keeps', { name: 'Keeps', whenUncertain: 'hold' }, { name: 'Keeps' }],
  ];
  for (const [where, whole, minimal] of resources) {
    const made = await owner.put(`${path}/${where}`, whole);
    assert.equal(made.status, 201, made.text);
    for (const [member, value] of Object.entries(whole))
      assert.deepEqual(made.body[member], value, `${where}: ${member}`);
    const kept = await owner.put(`${path}/${where}`, minimal);
    assert.equal(kept.status, 200, kept.text);
    assert.deepEqual(kept.body, made.body, where);
  }
});

test('of two people changing the same resource, the second gets a conflict', async () => {
  const list = `${path}/lists/l-0001`;
  const first = await owner.put(list, { name: 'Customers' });
  const tag = first.headers.get('etag') ?? '';
  const changed = await owner.put(list, { name: 'Buyers' }, { 'if-match': tag });
  assert.equal(changed.status, 200, changed.text);
  const late = await owner.put(list, { name: 'Clients' }, { 'if-match': tag });
  assert.equal(late.status, 412);
  assert.equal((await owner.get(list)).body.name, 'Buyers');
  const known = await owner.get(list, { 'if-none-match': changed.headers.get('etag') ?? '' });
  assert.equal(known.status, 304);
  const new_ = await owner.put(list, { name: 'Clients' }, { 'if-none-match': '*' });
  assert.equal(new_.status, 412);
  assert.equal((await owner.delete(list, { 'if-match': tag })).status, 412);
  assert.equal((await owner.delete(list)).status, 204);
  assert.equal((await owner.delete(list)).status, 404);
});

test('every invalid value is reported', async () => {
  const { status, body } = await owner.put(`${path}/integrations/shop`, {
    name: '',
    redirectUri: 'http://elsewhere.test',
    grants: ['magic'],
    colour: 'red',
  });
  assert.equal(status, 422);
  const fields = (body.errors as { field: string }[]).map(({ field }) => field).sort();
  assert.deepEqual(fields, ['colour', 'grants[0]', 'name']);
  const deeper = await owner.put(`${path}/integrations/shop`, {
    name: 'Shop',
    redirectUri: 'http://elsewhere.test',
  });
  assert.equal(deeper.status, 422);
  assert.equal((deeper.body.errors as { field: string }[])[0]?.field, 'redirectUri');
  const query = await owner.get(`${path}/messages?limit=0&colour=red`);
  assert.equal(query.status, 422);
  const cursor = await owner.get(`${path}/messages?cursor=bm9uZQ`);
  assert.equal(cursor.status, 422);
  const broken = await owner.call('PUT', `${path}/lists/l-1`, '{', {
    'content-type': 'application/json',
  });
  assert.equal(broken.status, 400);
  const other = await owner.call('PUT', `${path}/lists/l-1`, '<a/>', {
    'content-type': 'text/xml',
  });
  assert.equal(other.status, 415);
});

test('a new client secret is shown once, and the old one works during the overlap', async () => {
  const base = `${path}/integrations/app`;
  const made = await owner.put(base, { name: 'App', grants: ['password', 'refresh_token'] });
  assert.equal(made.status, 201, made.text);
  assert.equal(made.text.includes('ecret"'), false);
  const first = await owner.post(`${base}/secret`, {});
  const second = await owner.post(`${base}/secret`, { overlapHours: 1 });
  const introspect = (secret: unknown) =>
    fetch(`${service.url}/introspect`, {
      method: 'POST',
      body: new URLSearchParams({ token: 'x', client_id: 'app', client_secret: String(secret) }),
    });
  await waitFor('the second secret to work', async () => {
    const { status } = await introspect(second.body.clientSecret);
    return status === 200;
  });
  assert.equal((await introspect(first.body.clientSecret)).status, 200);
  const third = await owner.post(`${base}/secret`, {});
  assert.notEqual(third.body.clientSecret, second.body.clientSecret);
  await waitFor('the first secret to be rejected', async () => {
    const { status } = await introspect(first.body.clientSecret);
    return status === 401;
  });
  assert.ok((await auditKinds()).includes('integration_secret_rotated'));
  assert.equal((await owner.delete(base)).status, 204);
});

test('a consent is listed, and revoked with its tokens', async () => {
  await owner.put(`${path}/integrations/consented`, { name: 'App' });
  const users = await owner.get(`${path}/users`);
  const [first] = users.body.items as { email: string }[];
  await database.pool.query(
    `insert into consent (person_id, client_id, account_id, granted_at)
     select id, 'consented', '46100', now() from person where email = $1`,
    [first?.email],
  );
  const consents = `${path}/integrations/consented/consents`;
  const listed = await owner.get(consents);
  assert.deepEqual(
    (listed.body.items as { email: string }[]).map(({ email }) => email),
    [first?.email],
  );
  assert.equal((await owner.delete(`${consents}/${first?.email}`)).status, 204);
  assert.equal((await owner.delete(`${consents}/${first?.email}`)).status, 404);
});

test('the last owner of an account can’t be removed', async () => {
  const users = await owner.get(`${path}/users`);
  const [first] = users.body.items as { email: string }[];
  const self = `${path}/users/${first?.email}`;
  assert.equal((await owner.delete(self)).status, 409);
  assert.equal((await owner.put(self, { role: 'viewer' })).status, 409);
  const invited = await owner.put(`${path}/users/new@shop.test`, { name: 'New', role: 'owner' });
  assert.equal(invited.status, 201, invited.text);
  assert.equal((await owner.delete(self)).status, 409, 'an invited person is not an owner yet');
  assert.equal((await owner.delete(`${path}/users/new@shop.test`)).status, 204);
});

test('an API key is limited to its scopes, and those to its creator’s permissions', async () => {
  const developer = await as('developer');
  const beyond = await developer.post(`${path}/keys`, { name: 'k', scopes: ['account:write'] });
  assert.equal(beyond.status, 422);
  const made = await developer.post(`${path}/keys`, { name: 'k', scopes: ['lists:read'] });
  assert.equal(made.status, 201, made.text);
  const machine = new ManagementClient(service, String(made.body.key));
  assert.equal((await machine.get(`${path}/lists`)).status, 200);
  assert.equal((await machine.get(`${path}/senders`)).status, 403);
  assert.equal((await machine.get('/accounts/46999')).status, 404);
  assert.equal((await machine.get('/me')).body.person, null);
  const listed = await developer.get(`${path}/keys`);
  assert.equal(listed.text.includes(String(made.body.key)), false);
  assert.equal((await developer.delete(`${path}/keys/${made.body.id}`)).status, 204);
  assert.equal((await machine.get(`${path}/lists`)).status, 401);
});

interface MadeKey {
  readonly id: string;
  readonly accessKeyId: string | null;
  readonly secretAccessKey: string | null;
}

test('ASVS 4.0.3 2.10.4: a key that signs gets its secret once, also when it is rotated, and lists show only that it has one', async () => {
  const developer = await as('developer');
  const post = async (where: string, body: object): Promise<MadeKey> =>
    JSON.parse((await developer.post(`${path}/keys${where}`, body)).text);
  const body = { name: 'SES', scopes: ['lists:read'] };
  const made = await post('', { ...body, signing: true });
  assert.equal(made.accessKeyId, `46100_${made.id.replaceAll('-', '')}`);
  const next = await post(`/${made.id}/rotate`, {});
  assert.notEqual(next.secretAccessKey, made.secretAccessKey);
  const plain = await post('', body);
  assert.deepEqual([plain.accessKeyId, plain.secretAccessKey], [null, null]);
  const { text } = await developer.get(`${path}/keys`);
  const { items }: { items: { id: string; canSign: boolean }[] } = JSON.parse(text);
  const signs = (id: string) => items.find((key) => key.id === id)?.canSign;
  assert.deepEqual(
    [made, next, plain].map(({ id }) => signs(id)),
    [true, true, false],
  );
  const audit = await database.pool.query('select detail from audit_event');
  for (const { secretAccessKey } of [made, next]) {
    assert.match(secretAccessKey ?? '', /^[0-9A-Za-z]{40}$/);
    assert.ok(!`${text}${JSON.stringify(audit.rows)}`.includes(secretAccessKey ?? ''));
  }
  for (const { id } of [made, next, plain]) await developer.delete(`${path}/keys/${id}`);
});

test('only operators can manage the installation', async () => {
  const made = await owner.put('/installation/accounts/47000', { name: 'Second' });
  assert.equal(made.status, 201, made.text);
  const suspended = await owner.put('/installation/accounts/47000', {
    name: 'Second',
    suspended: true,
    addOns: ['transactional'],
  });
  assert.deepEqual(suspended.body, {
    id: '47000',
    name: 'Second',
    addOns: ['transactional'],
    suspended: true,
    retentionDays: 90,
    quota: { perHour: null, perDay: null },
    archiveAddress: '',
    attachmentLimit: null,
  });
  const developer = await as('developer');
  assert.equal((await developer.put('/installation/accounts/47000', { name: 'x' })).status, 403);
  const me = await owner.get('/me');
  assert.equal(me.body.operator, true);
  assert.equal(me.body.address, '127.0.0.1');
  const page = await owner.get('/installation/accounts?limit=1');
  assert.equal((page.body.items as unknown[]).length, 1);
  const next = await owner.get(`/installation/accounts?limit=1&cursor=${page.body.nextCursor}`);
  assert.deepEqual(
    (next.body.items as { id: string }[]).map(({ id }) => id),
    ['47000'],
  );
  assert.equal(next.body.nextCursor, null);
});

test('suppressions are created, listed, exported and removed', async () => {
  const entry = `${path}/suppressions/Gone@People.test`;
  assert.equal((await owner.put(entry, {})).status, 201);
  const listed = await owner.get(`${path}/suppressions?contains=GONE`);
  assert.equal((listed.body.items as { reason: string }[])[0]?.reason, 'manual');
  const csv = await owner.get(`${path}/suppressions-export`);
  assert.match(csv.text, /^address,reason,.*\r\ngone@people\.test,manual,/);
  assert.equal((await owner.delete(entry)).status, 204);
  assert.equal((await owner.get(entry)).status, 404);
  const audit = await owner.get(`${path}/audit?search=gone@people.test`);
  const entries = audit.body.items as { kind: string; detail: unknown }[];
  assert.deepEqual(
    entries.map(({ kind }) => kind),
    ['suppression_removed', 'suppression_created'],
  );
  assert.doesNotMatch(JSON.stringify(entries), /gone@/i, 'the log names a hash of the address');
});

test('an exported suppressions file is imported with progress and row errors', async () => {
  const imports = `${path}/suppressions-imports`;
  const lines = [
    "'=cmd@people.test,complaint,,,",
    'later@people.test,unsubscribe,,,2031-01-01T00:00:00.000Z',
    'plain@people.test,,,,',
    'nobody,manual,,,',
    'c@people.test,why,,,',
    'd@people.test,manual,,,soon',
  ];
  const file = ['address,reason,message_id,created_at,expires_at', ...lines].join('\r\n');
  const finish = async (text: string | Buffer) => {
    const address = `${imports}/${randomUUID()}`;
    const began = await owner.call('PUT', address, text, { 'content-type': 'text/csv' });
    assert.equal(began.status, 202, began.text);
    return waitFor('the import to end', async () => {
      const { body } = await owner.get(address);
      return body.state !== 'running' && body;
    });
  };
  const done = await finish(file);
  assert.equal(done.state, 'done', JSON.stringify(done));
  assert.deepEqual([done.rowsRead, done.rowsWritten, done.rowsWrong], [6, 3, 3]);
  assert.deepEqual(done.problems, [
    { line: 5, reason: 'The address has no @' },
    { line: 6, reason: 'The reason must be hard_bounce, complaint, unsubscribe or manual' },
    { line: 7, reason: 'expires_at must be a time such as 2026-12-31T00:00:00Z' },
  ]);
  const listed = await owner.get(`${path}/suppressions?contains=people.test`);
  const entries = listed.body.items as { address: string; reason: string; expiresAt: string }[];
  assert.deepEqual(
    entries.map(({ address, reason, expiresAt }) => [address, reason, expiresAt]),
    [
      ['plain@people.test', 'manual', null],
      ['later@people.test', 'unsubscribe', '2031-01-01T00:00:00.000Z'],
      ['=cmd@people.test', 'complaint', null],
    ],
  );
  const csv = await owner.get(`${path}/suppressions-export`);
  assert.equal((await finish(csv.text)).rowsWritten, 3);
  const wrong = await finish('mail\r\na@b.test\r\n');
  assert.equal(wrong.state, 'failed');
  assert.deepEqual(wrong.problems, [
    { line: 0, reason: 'The file needs a column “address”. It has: mail' },
  ]);
  for (const [text, address] of [
    [Buffer.from('E-mail;Note\nzo\xeb@people.test;caf\xe9\n;\n', 'latin1'), 'zoë@people.test'],
    ['Email Address,Address\nmia@people.test,"Main St 1"\n', 'mia@people.test'],
    ['\ufeffaddress,reason,,\n \u200bmax@people.test, "complaint" ,,\n', 'max@people.test'],
  ] as const) {
    const imported = await finish(text);
    assert.deepEqual([imported.problems, imported.rowsWritten], [[], 1], address);
    const found = await owner.get(`${path}/suppressions/${encodeURIComponent(address)}`);
    assert.equal(found.status, 200, address);
  }
  assert.equal(((await owner.get(imports)).body.items as unknown[]).length, 6);
});

test('a signed-in browser can only make changes from a page of the service', async () => {
  const users = await owner.get(`${path}/users`);
  const [first] = users.body.items as { email: string }[];
  const cookie = await signIn(service, String(first?.email));
  const browser = new ManagementClient(service, undefined, { cookie });
  assert.equal((await browser.get('/me')).status, 200);
  const list = `${path}/lists/l-browser`;
  assert.equal((await browser.put(list, { name: 'x' })).status, 403);
  const own = { 'x-signalpost-request': '1' };
  const foreign = await browser.put(list, { name: 'x' }, { ...own, origin: 'https://evil.test' });
  assert.equal(foreign.status, 403);
  const crossSite = await browser.put(
    list,
    { name: 'x' },
    { ...own, 'sec-fetch-site': 'same-site' },
  );
  assert.equal(crossSite.status, 403);
  assert.equal(
    (await browser.put(list, { name: 'x' }, { ...own, origin: service.url })).status,
    201,
  );
});

testAccountFirst(5);
