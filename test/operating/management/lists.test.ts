import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import { accountLimits } from '../../../src/accounts/account/account-limits.ts';
import { lockAccount } from '../../../src/operating/change/change-lock-store.ts';
import { readContacts } from '../../../src/operating/manifest/read-contacts.ts';
import { type ManagementClient, signInToManagement } from '../../support/management-client.ts';
import { startTestService } from '../../support/test-service.ts';
import { openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';
import { waitForLock } from '../../support/wait-for-lock.ts';

const { database, shop, owner, path, databaseUrl, as } = await openSharedShop({ worker: false });
const list = `${path}/lists/l-0001`;
await owner.put(list, { name: 'Customers' });

const csv = { 'content-type': 'text/csv' };

async function finish(client: ManagementClient, address: string): Promise<Record<string, unknown>> {
  return waitFor('the import to end', async () => {
    const { body } = await client.get(address);
    return body.state !== 'running' && { ...body };
  });
}

test('a file is imported with progress and row errors, and exported again', async () => {
  const rows = Array.from(
    { length: 5_000 },
    (_, n) => `p${n}@people.test,Person ${n},"a ""b"", c"`,
  );
  const text = ['Email,Name,Note', ...rows, 'nobody,x,y', 'Two@people.test,only two'].join('\r\n');
  const address = `${list}/imports/${randomUUID()}`;
  const began = await owner.call('PUT', address, text, csv);
  assert.equal(began.status, 202, began.text);
  const done = await finish(owner, address);
  assert.equal(done.state, 'done');
  assert.equal(done.rowsRead, 5_002);
  assert.equal(done.rowsWritten, 5_000);
  assert.equal(done.rowsWrong, 2);
  assert.deepEqual(
    (done.problems as { line: number }[]).map(({ line }) => line),
    [5_002, 5_003],
  );
  assert.equal((await owner.get(list)).body.size, 5_000);
  const page = await owner.get(`${list}/contacts?startsWith=P4999@&limit=1`);
  assert.deepEqual((page.body.items as { fields: unknown }[])[0]?.fields, {
    Name: 'Person 4999',
    Note: 'a "b", c',
  });
  const exported = await owner.get(`${list}/export`);
  assert.equal(exported.text.split('\r\n').length, 5_002);
  assert.match(exported.text, /^email,Name,Note\r\np0@people\.test,Person 0,"a ""b"", c"\r\n/);
  const again = await owner.call('PUT', address, text, csv);
  assert.equal(again.status, 202);
  const imports = await owner.get(`${list}/imports`);
  assert.equal((imports.body.items as unknown[]).length, 1, 'the same id imports once');
});

test('the lists with an address are found, in any case, by callers who can read contacts', async () => {
  const names = ['found-1', 'found-2', 'found-3'];
  for (const name of names) await owner.put(`${path}/lists/${name}`, { name });
  for (const name of names.slice(0, 2))
    await owner.put(`${path}/lists/${name}/contacts/Ada@people.test`, { fields: {} });
  const find = async (address: string) => {
    const { body } = await owner.get(`${path}/lists?contact=${address}`);
    return (body.items as { id: string }[]).map(({ id }) => id);
  };
  assert.deepEqual(await find('ADA@people.test'), names.slice(0, 2));
  assert.deepEqual(await find('da@people.test'), []);
  const viewer = await as('viewer');
  assert.equal((await viewer.get(`${path}/lists`)).status, 200);
  const refused = await viewer.get(`${path}/lists?contact=ada@people.test`);
  assert.equal(refused.status, 403);
  assert.match(refused.text, /requires the permission contacts:read/);
});

test('an invalid contacts file fails with a reason', async () => {
  for (const [text, reason] of [
    ['name,Mail\nx,y', 'The file needs a column “email”. It has: name, Mail'],
    ['', 'The file has no header row'],
    ['email,,x\na@b.test,c,d', 'Column 2 has no name in the header'],
    ['email,Email\na@b.test,c', 'Two columns are named “Email”. Rename one'],
    ['email\n"a', /^A quotation mark is never closed/],
    ['email\nx"y"@b.test', /^A quotation mark is inside a value/],
  ] as const) {
    const address = `${list}/imports/${randomUUID()}`;
    const began = await owner.call('PUT', address, text, csv);
    assert.equal(began.status, 202, began.text);
    const done = await finish(owner, address);
    assert.equal(done.state, 'failed');
    const [problem] = done.problems as { reason: string }[];
    if (typeof reason === 'string') assert.equal(problem?.reason, reason);
    else assert.match(String(problem?.reason), reason);
  }
  const json = await owner.put(`${list}/imports/${randomUUID()}`, { email: 'a@b.test' });
  assert.equal(json.status, 415);
  const nowhere = await owner.call(
    'PUT',
    `${path}/lists/none/imports/${randomUUID()}`,
    'email',
    csv,
  );
  assert.equal(nowhere.status, 404);
});

test('contacts are created, paged and deleted', async () => {
  const contact = `${list}/contacts/Zoe@people.test`;
  const made = await owner.put(contact, { fields: { Name: 'Zoe' } });
  assert.equal(made.status, 201, made.text);
  assert.equal((await owner.get(list)).body.size, 5_001);
  const seen: string[] = [];
  let cursor = '';
  do {
    const { body } = await owner.get(`${list}/contacts?limit=500${cursor}`);
    seen.push(...(body.items as { email: string }[]).map(({ email }) => email));
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
  } while (cursor !== '');
  assert.equal(new Set(seen).size, 5_001);
  assert.equal((await owner.delete(contact)).status, 204);
  assert.equal((await owner.get(contact)).status, 404);
});

test('semicolons and tabs are recognized, also beside commas in values and with the line that names them', async () => {
  const target = `${path}/lists/l-0800`;
  await owner.put(target, { name: 'Spreadsheets' });
  for (const [name, text] of [
    ['semicolons', '\ufeffEmail;Name, given;Note\r\na@b.test;Ann;"x; y"\r\n'],
    ['tabs', 'Email\tName, given\tNote\na@b.test\tAnn\tx; y\n'],
    ['named', 'sep=;\nEmail;Name, given;Note\na@b.test;Ann;"x; y"\n'],
    ['commas', '"Email","Name, given","Note"\na@b.test,Ann,x; y\n'],
  ] as const) {
    const address = `${target}/imports/${randomUUID()}`;
    const began = await owner.call('PUT', `${address}?name=${name}.csv`, text, csv);
    assert.equal(began.status, 202, began.text);
    const done = await finish(owner, address);
    assert.deepEqual([done.state, done.rowsWritten, done.name], ['done', 1, `${name}.csv`]);
    const { body } = await owner.get(`${target}/contacts/a@b.test`);
    assert.deepEqual(body.fields, { 'Name, given': 'Ann', Note: 'x; y' }, name);
    assert.equal((await owner.delete(`${target}/contacts/a@b.test`)).status, 204);
  }
});

test('files of spreadsheets and other products are imported: windows-1252, usual names of the address column, empty cells at the end, invisible characters and padded quotes', async () => {
  const target = `${path}/lists/l-0802`;
  await owner.put(target, { name: 'As they are' });
  const expected = { Name: 'Zoë Ŧest' };
  for (const [name, text, fields] of [
    [
      'windows-1252',
      Buffer.from('email;Name\na@b.test;Zo\xeb \x93\x80\x94\n', 'latin1'),
      { Name: 'Zoë “€”' },
    ],
    ['UTF-16', Buffer.from('\ufeffEmail\tName\na@b.test\tZoë Ŧest\n', 'utf16le'), expected],
    ['Mailchimp', 'Email Address,Name,Address\na@b.test,Zoë Ŧest,\n', expected],
    ['Outlook', 'Name,E-mail Address,E-mail 2 Address\nZoë Ŧest,a@b.test,\n', expected],
    ['e-mail', 'Name,E-mail\nZoë Ŧest,a@b.test\n', expected],
    ['email_address', 'email_address,Name\na@b.test,Zoë Ŧest\n', expected],
    ['EMAIL', 'EMAIL,Name\na@b.test,Zoë Ŧest\n', expected],
    [
      'a column email beside others',
      'E-Mail,email,Name\nx,a@b.test,y\n',
      { 'E-Mail': 'x', Name: 'y' },
    ],
    ['ends', ';;;\nEmail;Name;;\na@b.test;Zoë Ŧest;;;\n;;;\n;;\n', expected],
    ['invisible', '\ufeff\u200bEmail,Name\u200b\n\u200b a\u200b@b.test\u202c,Zoë Ŧest\n', expected],
    ['padded', 'email  , Name\n a@b.test , "Zoë Ŧest" \n', expected],
    [
      'padded with commas',
      '"email", "Name"\n "a@b.test" , "Ann, ""Zoë""" \n',
      { Name: 'Ann, "Zoë"' },
    ],
  ] as const) {
    const address = `${target}/imports/${randomUUID()}`;
    const began = await owner.call('PUT', address, text, csv);
    assert.equal(began.status, 202, began.text);
    const done = await finish(owner, address);
    assert.deepEqual([done.state, done.problems, done.rowsWritten], ['done', [], 1], name);
    assert.equal(done.bytesRead, done.bytesTotal, name);
    const { body } = await owner.get(`${target}/contacts/a@b.test`);
    assert.deepEqual(body.fields, fields, name);
    assert.equal((await owner.delete(`${target}/contacts/a@b.test`)).status, 204);
  }
  const address = `${target}/imports/${randomUUID()}`;
  await owner.call('PUT', address, 'E-Mail Address,E-mail-address\na@b.test,b@b.test\n', csv);
  assert.deepEqual((await finish(owner, address)).problems, [
    { line: 0, reason: 'Two columns are named “E-mail-address”. Rename one' },
  ]);
});

test('rejected rows say why in plain words, and can be downloaded, corrected and imported', async () => {
  const target = `${path}/lists/l-0801`;
  await owner.put(target, { name: 'Corrections' });
  const invalid = Buffer.from('caf\xe9@b.test,x\n', 'latin1');
  const text = Buffer.concat([
    Buffer.from('email,Name\nok@b.test,Zoë\nno-at,"=1+1"\nx@b.test\n'),
    invalid,
  ]);
  const address = `${target}/imports/${randomUUID()}`;
  await owner.call('PUT', address, text, csv);
  const done = await finish(owner, address);
  assert.deepEqual([done.rowsWritten, done.rowsWrong, done.rejectedRows], [1, 3, 3]);
  assert.deepEqual(done.problems, [
    { line: 3, reason: 'The address has no @' },
    { line: 4, reason: 'The row has 1 column, but the header has 2 columns' },
    { line: 5, reason: 'A value isn’t readable as UTF-8. Save the file as “CSV UTF-8”' },
  ]);
  const rejected = await owner.get(`${address}/rejected`);
  assert.match(rejected.headers.get('content-type') ?? '', /text\/csv/);
  const [header, first] = rejected.text.split('\r\n');
  assert.equal(header, 'Import line,Import problem,email,Name');
  assert.equal(first, "3,The address has no @,no-at,'=1+1");
  assert.equal(
    (await owner.get(`${address}/rejected`)).text.split('\r\n')[2],
    '4,"The row has 1 column, but the header has 2 columns",x@b.test',
  );
  const corrected = rejected.text.replace('no-at', 'now@b.test');
  const second = `${target}/imports/${randomUUID()}`;
  await owner.call('PUT', second, corrected, csv);
  const again = await finish(owner, second);
  assert.deepEqual([again.rowsWritten, again.rowsWrong], [1, 2]);
  const { body } = await owner.get(`${target}/contacts/now@b.test`);
  assert.deepEqual(body.fields, { Name: '=1+1' });
  assert.equal((await owner.get(`${target}/imports/${randomUUID()}/rejected`)).status, 404);
  const erased = await owner.delete(`${path}/people/no-at@b.test`);
  assert.ok(erased.status < 300, erased.text);
  assert.equal((await owner.get(`${address}/rejected`)).text.split('\r\n').length, 5);
  await owner.call('DELETE', `${path}/people/x@b.test`);
  const left = (await owner.get(`${address}/rejected`)).text;
  assert.equal(left.includes('x@b.test'), false, 'erasure covers rejected rows');
});

test('an import stopped by a restart or kill -9 says so and continues with the same file, counting every row once', async () => {
  const other = `${path}/lists/l-0900`;
  await owner.put(other, { name: 'Many' });
  const node = await startTestService({ databaseUrl, worker: false });
  const there = await signInToManagement(node, shop.owner.email);
  const people = 30_000;
  const rows = Array.from({ length: people }, (_, n) =>
    n % 100 === 99 ? 'bad' : `q${n}@people.test`,
  );
  const file = ['email', ...rows].join('\n');
  const address = `${other}/imports/${randomUUID()}`;
  // A later step waits for this contact, so that the node stops in the middle.
  const gate = await database.pool.connect();
  await gate.query('begin');
  await gate.query(
    `insert into contact (account_id, list_id, email, fields) values ($1, 'l-0900', 'q5000@people.test', '{}')`,
    [shop.id],
  );
  await there.call('PUT', address, file, csv);
  await waitFor(
    'its first rows',
    async () => Number((await owner.get(address)).body.rowsWritten) > 0,
  );
  const stopping = node.stop();
  await gate.query('rollback');
  gate.release();
  await stopping;
  const { body: stopped } = await owner.get(address);
  assert.equal(stopped.state, 'stopped');
  const rowsBefore = Number(stopped.rowsRead);
  assert.ok(rowsBefore > 0 && rowsBefore < people, `${rowsBefore} rows were read`);
  const [problem] = stopped.problems as { line: number; reason: string }[];
  assert.equal(problem?.line, 0);
  assert.match(problem?.reason ?? '', /^The service restarted\. \d+ rows are imported\./);

  const wrongFile = await owner.call('PUT', address, `${file}\nmore@people.test`, csv);
  assert.equal(wrongFile.status, 409);
  assert.match(wrongFile.text, /isn’t the file that the import started with/);
  // The state that kill -9 leaves behind: running, without anyone who makes progress.
  await sql`
    update file_import set state = 'running', changed_at = now() - interval '2 minutes'
    where account_id = ${shop.id} and list_id = 'l-0900'`.execute(database.kysely);
  assert.equal((await owner.get(address)).body.state, 'stopped');
  const continued = await owner.call('PUT', address, file, csv);
  assert.equal(continued.status, 202, continued.text);
  const done = await finish(owner, address);
  const wrong = people / 100;
  assert.deepEqual(
    [done.state, done.rowsRead, done.rowsWritten, done.rowsWrong, done.rejectedRows],
    ['done', people, people - wrong, wrong, wrong],
  );
  assert.equal((await owner.get(other)).body.size, people - wrong);
  assert.equal((await owner.get(`${address}/rejected`)).text.split('\r\n').length, wrong + 2);
  assert.equal(
    (await owner.call('PUT', address, file, csv)).status,
    202,
    'a done import is repeated',
  );
  assert.equal((await owner.get(`${other}/imports`)).body.nextCursor, null);
});

test('an import that reaches a limit says which, and continues once there is room', async () => {
  const full = `${path}/lists/l-0901`;
  await owner.put(full, { name: 'Full' });
  const resize = (size: number) =>
    sql`update contact_list set source_size = ${size} where account_id = ${shop.id} and id = 'l-0901'`.execute(
      database.kysely,
    );
  await resize(accountLimits.contactsOfList.max - 1);
  const address = `${full}/imports/${randomUUID()}`;
  const file = 'email\na@full.test\nb@full.test';
  await owner.call('PUT', address, file, csv);
  const stopped = await finish(owner, address);
  assert.equal(stopped.state, 'stopped');
  const [problem] = stopped.problems as { reason: string }[];
  assert.equal(
    problem?.reason,
    'A list can have 10,000,000 contacts. Remove some before you add another. 0 rows are imported. To continue, import the same file again',
  );
  await resize(0);
  await owner.call('PUT', address, file, csv);
  assert.equal((await finish(owner, address)).state, 'done');
});

test('contacts with more fields than a file can have columns are not exported, and the response says why', async () => {
  const wide = `${path}/lists/l-wide`;
  await owner.put(wide, { name: 'Wide' });
  const add = (from: number, to: number) =>
    sql`insert into contact (account_id, list_id, email, fields)
      select ${shop.id}, 'l-wide', at || '@people.test', (select jsonb_object_agg('f' || at || '-' || n, '') from generate_series(1, 100) n)
      from generate_series(${from}::int, ${to}) at`.execute(database.kysely);
  await add(1, 100);
  assert.equal((await owner.get(`${wide}/export`)).status, 200);
  await add(101, 101);
  const refused = await owner.get(`${wide}/export`);
  assert.equal(refused.status, 409, refused.text);
  assert.match(String(refused.body.detail), /more than 10,000 different fields/);
});

test('the largest allowed contact survives export and import', async () => {
  const small = `${path}/lists/l-0002`;
  await owner.put(small, { name: 'Largest' });
  const fields = Object.fromEntries(
    Array.from({ length: 100 }, (_, at) => [`f${at}`.padEnd(200, 'x'), 'v']),
  );
  fields['f0'.padEnd(200, 'x')] = 'v'.repeat(10_000);
  const made = await owner.put(`${small}/contacts/zoe@people.test`, { fields });
  assert.equal(made.status, 201, made.text);
  const { text } = await owner.get(`${small}/export`);
  const address = `${small}/imports/${randomUUID()}`;
  assert.equal((await owner.call('PUT', address, text, csv)).status, 202);
  const done = await finish(owner, address);
  assert.equal(done.state, 'done', JSON.stringify(done));
  assert.equal(done.rowsWritten, 1);
  assert.equal(readContacts(Buffer.from(text), assert.fail)?.rows.length, 1);
});

test('whatever the API stores in contacts survives export and import, in the console and in manifests', async () => {
  const source = `${path}/lists/l-0004`;
  await owner.put(source, { name: 'Names' });
  const names = [
    'Name',
    'name',
    'Email',
    'email',
    'Import line',
    "'Email",
    ' Name ',
    '+Phone',
    "'+Phone",
  ];
  names.push("''", '\t=x', 'a;b;c', 'constructor', 'a\nb', '\ufeffx', '😀'.repeat(200));
  const values = [
    '=1+1',
    "'=1+1",
    "''=1+1",
    "'",
    "'x",
    ' x ',
    'a\r\nb',
    '\t',
    '"',
    ';',
    '😀'.repeat(10_000),
  ];
  const contacts = new Map<string, Record<string, string>>([
    ['names@people.test', Object.fromEntries(names.map((name) => [name, `of ${name}`]))],
    ['values@people.test', Object.fromEntries(values.map((value, at) => [`v${at}`, value]))],
    ["'-x@people.test", { Name: 'Ann' }],
  ]);
  for (const n of [1, 2])
    contacts.set(
      `many-${n}@people.test`,
      Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`many ${n} ${at}`, 'x'])),
    );
  for (const [email, fields] of contacts) {
    const made = await owner.put(`${source}/contacts/${encodeURIComponent(email)}`, { fields });
    assert.equal(made.status, 201, made.text);
  }
  const { text } = await owner.get(`${source}/export`);
  const target = `${path}/lists/l-0005`;
  await owner.put(target, { name: 'Names again' });
  const address = `${target}/imports/${randomUUID()}`;
  await owner.call('PUT', address, text, csv);
  const done = await finish(owner, address);
  assert.deepEqual([done.state, done.problems], ['done', []]);
  const read = await owner.get(`${target}/contacts`);
  const items = read.body.items as { email: string; fields: Record<string, string> }[];
  assert.deepEqual(new Map(items.map(({ email, fields }) => [email, fields])), contacts);
  const rows = readContacts(Buffer.from(text), assert.fail)?.rows ?? [];
  assert.deepEqual(new Map(rows.map(({ email, fields }) => [email, fields])), contacts);
  for (const fields of [{ '': 'x' }, { Name: '\ufffd' }])
    assert.equal((await owner.put(`${source}/contacts/no@people.test`, { fields })).status, 422);
});

test('a contact put while its list is removed gets a 404, not an internal error', async () => {
  const removedList = `${path}/lists/l-0003`;
  await owner.put(removedList, { name: 'Doomed' });
  const response = await database.kysely.transaction().execute(async (transaction) => {
    await lockAccount(transaction, shop.id);
    const put = owner.put(`${removedList}/contacts/zoe@people.test`, { fields: {} });
    await waitForLock(database);
    await sql`
      delete from contact_list where account_id = ${shop.id} and id = 'l-0003'`.execute(
      transaction,
    );
    return { put };
  });
  const { status, text } = await response.put;
  assert.equal(status, 404, text);
});
