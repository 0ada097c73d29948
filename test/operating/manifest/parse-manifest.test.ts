// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to the environment are what is tested here
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { formatPath, ManifestError } from '../../../src/operating/manifest/manifest-problems.ts';
import { codePoint } from '../../support/code-point.ts';
import { manifestProblems, manifestProblemTexts, parse } from '../../support/manifest-world.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();

/** A manifest with one account, to which members are added. */
function account(members: object): object {
  return { accounts: [{ id: '1', name: 'Shop', ...members }] };
}

const template = {
  id: 't-1',
  name: 'T',
  createdBy: 'ann@shop.test',
  subject: 'Hello',
  text: 'Hello',
};

describe('the format', () => {
  test('the example is parsed completely', async () => {
    writeFileSync(join(folder, 'order.html'), '<p>Order {{Order Number}} {{Reset Link}}</p>\r\n');
    writeFileSync(join(folder, 'customers.csv'), 'email,City\nAda@Shop.test,London\n');
    const manifest = await parse(
      `
accounts:
  - id: "46100"
    name: Demo Shop
    addOns: [transactional]
    suspended: false
    users:
      - { email: Owner@Shop.test, name: Shop Owner, password: "\${OWNER_PASSWORD}", role: owner }
    senders:
      - { address: Orders@BÜCHER.test, displayNames: [Demo Shop], verified: true }
    integrations:
      - { clientId: demo, clientSecret: "\${DEMO_SECRET}", name: Demo, redirectUri: "https://localhost/callback", grants: [password, refresh_token] }
    templates:
      - id: t-0001
        name: Order confirmation
        createdBy: OWNER@shop.test
        sender: orders@bücher.test
        subject: "Your order {{Order Number}}"
        previewText: "Thank you, {{First Name}}"
        html: { file: order.html }
        fields: { First Name: { default: there, sample: Reader }, Order Number: { sample: A-1001 }, Reset Link: { secret: true } }
    lists:
      - { id: l-0001, name: Customers, csv: customers.csv }
`,
      {
        folder,
        environment: {
          OWNER_PASSWORD: 'a long password',
          DEMO_SECRET: 'a secret of 24 characters',
        },
      },
    );
    const [shop] = manifest.accounts;
    assert.equal(shop?.users[0]?.email, 'owner@shop.test');
    assert.equal(shop?.users[0]?.password, 'a long password');
    assert.equal(shop?.senders[0]?.address, 'orders@xn--bcher-kva.test');
    assert.equal(shop?.templates[0]?.sender, 'orders@xn--bcher-kva.test');
    assert.equal(shop?.templates[0]?.createdBy, 'owner@shop.test');
    assert.equal(shop?.templates[0]?.freshnessSeconds, 900);
    assert.equal(shop?.templates[0]?.source.html, '<p>Order {{Order Number}} {{Reset Link}}</p>\n');
    assert.deepEqual(shop?.lists[0]?.contacts?.rows, [
      { email: 'ada@shop.test', fields: { City: 'London' } },
    ]);
  });

  test('JSON is accepted too, with tabs and a byte order mark', async () => {
    const text = JSON.stringify(account({}), null, '\t');
    assert.equal((await parse(text)).accounts[0]?.id, '1');
    writeFileSync(join(folder, 'mark.html'), '\uFEFFHello');
    const marked = account({ templates: [{ ...template, html: { file: 'mark.html' } }] });
    const manifest = await parse(marked, { folder });
    assert.equal(manifest.accounts[0]?.templates[0]?.source.html, 'Hello');
  });

  test('an unknown member is reported with path and line', async () => {
    const [problem] = await manifestProblems(
      parse(
        'accounts:\n  - id: "1"\n    name: Shop\n    senders:\n      - address: a@shop.test\n        verifed: true\n',
      ),
    );
    assert.equal(problem?.path, 'accounts[0].senders[0].verifed');
    assert.equal(problem?.line, 6);
    assert.match(problem?.message ?? '', /^is unknown; allowed members are address,/);
  });

  test('all problems are reported at once, in plain words', async () => {
    const manifest = {
      accounts: [
        {
          id: 'a b',
          name: '',
          retentionDays: 60,
          suspended: 'no',
          users: [{ email: 'ann@shop.test', role: 'boss' }],
          integrations: [{ clientId: 'demo', name: 'Demo', grants: [] }],
          templates: [
            { ...template, subject: undefined, html: { fil: 'x' }, text: 3, freshnessMinutes: 0 },
          ],
        },
        { id: 46100, name: null },
        { id: 'blank', name: '  ', senders: [{ address: 'a@shop.test', displayNames: [' '] }] },
      ],
    };
    const found = await manifestProblemTexts(parse(manifest));
    assert.deepEqual(found.sort(), [
      'accounts[0].id must be 1 to 64 letters, digits, - and _',
      'accounts[0].integrations[0].grants must have at least 1 entry',
      'accounts[0].name is empty or blank',
      'accounts[0].retentionDays must be one of 30, 90, 400',
      'accounts[0].suspended must be true or false',
      'accounts[0].templates[0].freshnessMinutes must be at least 1',
      'accounts[0].templates[0].html.fil is unknown; allowed members are file',
      'accounts[0].templates[0].html.file is required',
      'accounts[0].templates[0].subject is required',
      'accounts[0].templates[0].text must be text of at most 2097152 characters, or { file: … }',
      'accounts[0].users[0].role must be one of owner, developer, marketer, viewer, service',
      'accounts[1].id must be text: put it in quotes',
      'accounts[1].name is empty; it must be text',
      'accounts[2].name is empty or blank',
      'accounts[2].senders[0].displayNames[0] is empty or blank',
    ]);
  });

  test('syntax errors, empty files and multiple documents are rejected with their line', async () => {
    const [broken] = await manifestProblems(parse('accounts:\n  - id: "1\n'));
    assert.match(broken?.message ?? '', /^is neither YAML nor JSON: /);
    assert.ok((broken?.line ?? 0) >= 2);
    assert.deepEqual(await manifestProblemTexts(parse('')), ['is empty; it must be an object']);
    assert.deepEqual(await manifestProblemTexts(parse('accounts: []')), [
      'accounts must have at least 1 entry',
    ]);
    assert.deepEqual(await manifestProblemTexts(parse('accounts: []\n---\naccounts: []\n')), [
      'contains more than one document',
    ]);
    const [twice] = await manifestProblems(parse('accounts: []\naccounts: []\n'));
    assert.equal(twice?.message, 'contains a duplicate member');
    assert.equal(twice?.line, 2);
  });

  test('exploding aliases are rejected', async () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 9; level += 1)
      lines.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      );
    assert.match(
      (await manifestProblemTexts(parse(lines.join('\n'))))[0] ?? '',
      /uses too many aliases/,
    );
    assert.match((await manifestProblemTexts(parse('accounts: *nothing')))[0] ?? '', /alias/i);
  });

  test('arbitrary text is either a manifest or rejected with problems', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.string({ unit: codePoint }),
          fc.json(),
          fc.json().map((json) => stringify(JSON.parse(json))),
        ),
        async (text) => {
          const error: unknown = await parse(text).catch((reason: unknown) => reason);
          assert.ok(error instanceof ManifestError);
          assert.ok(error.problems.length > 0);
        },
      ),
    );
  });
});

describe('references to the environment', () => {
  const named = (name: string) => account({ name });

  test('values are substituted literally, also within other text', async () => {
    const environment = { SHOP: 'a: "b" ${X} {{Y}}', OTHER: 'Ω' };
    const manifest = await parse(named('x ${SHOP} ${OTHER}'), { environment });
    assert.equal(manifest.accounts[0]?.settings.name, 'x a: "b" ${X} {{Y}} Ω');
  });

  test('$${ is a literal ${, and a single $ is literal', async () => {
    assert.equal(
      (await parse(named('$${SHOP} $5 $$'))).accounts[0]?.settings.name,
      '${SHOP} $5 $$',
    );
  });

  test('unset and empty variables are reported with their path', async () => {
    const manifest = account({
      users: [{ email: 'ann@shop.test', role: 'owner', password: '${NOT_SET}' }],
      senders: [{ address: '${EMPTY}@shop.test' }],
    });
    assert.deepEqual(await manifestProblemTexts(parse(manifest, { environment: { EMPTY: '' } })), [
      'accounts[0].users[0].password requires the environment variable NOT_SET, which isn’t set',
      'accounts[0].senders[0].address requires the environment variable EMPTY, which isn’t set',
    ]);
  });

  test('malformed references are rejected', async () => {
    for (const name of ['${}', '${1A}', '${A B}', '${A'])
      assert.match(
        (await manifestProblemTexts(parse(named(name))))[0] ?? '',
        /contains an invalid \$\{ reference/,
      );
  });

  test('files are not substituted', async () => {
    writeFileSync(join(folder, 'dollar.txt'), 'Pay ${AMOUNT}');
    const manifest = account({ templates: [{ ...template, text: { file: 'dollar.txt' } }] });
    const parsed = await parse(manifest, { folder });
    assert.equal(parsed.accounts[0]?.templates[0]?.source.text, 'Pay ${AMOUNT}');
  });

  test('problems never contain secret values', async () => {
    const environment = { PASSWORD: 'short-one', SECRET: 'too-short-secret' };
    const manifest = account({
      users: [{ email: 'ann@shop.test', role: 'owner', password: '${PASSWORD}' }],
      integrations: [{ clientId: 'demo', name: 'Demo', clientSecret: '${SECRET}' }],
    });
    const found = await manifestProblemTexts(parse(manifest, { environment }));
    assert.deepEqual(found, [
      'accounts[0].users[0].password must have at least 12 characters',
      'accounts[0].integrations[0].clientSecret must be 24 to 1000 printable ASCII characters',
    ]);
  });
});

describe('mistakes of different kinds', () => {
  test('are reported in one run, each once and without follow-up errors', async () => {
    const found = await manifestProblemTexts(
      parse(
        {
          accounts: [
            {
              id: '1',
              name: 'Shop',
              quota: { perDay: -1 },
              users: [
                { email: '${NOT_SET}', role: 'owner', password: '${NOT_SET}' },
                { email: 'bea@shop.test', role: 'boss' },
                { email: 'nobody', role: 'viewer' },
              ],
              integrations: [{ clientId: '${NOT_SET}', name: 'Demo' }],
              templates: [
                { ...template, text: { file: '${NOT_SET}/x.txt' } },
                { ...template, id: 't-2', text: { file: 'missing.txt' } },
                { ...template, id: 't-3', html: '<p {{Name}}>' },
              ],
              lists: [3, { id: 'l-1', name: 'L' }, { id: 'l-1', name: 'M' }],
            },
            'two',
            { id: '3', nam: 'Three', senders: [{ address: 'no sender' }] },
          ],
        },
        { folder },
      ),
    );
    const unset = 'requires the environment variable NOT_SET, which isn’t set';
    assert.deepEqual(found.toSorted(), [
      `accounts[0].integrations[0].clientId ${unset}`,
      'accounts[0].lists[0] must be an object',
      'accounts[0].lists[2].id duplicates accounts[0].lists[1].id',
      'accounts[0].quota.perDay must be at least 0',
      `accounts[0].templates[0].text.file ${unset}`,
      'accounts[0].templates[1].text missing.txt does not exist',
      'accounts[0].templates[2].html (line 1, column 4) {{Name}} is in the tag <p>, outside a quoted attribute value: a field is only allowed in text or in a quoted attribute value',
      `accounts[0].users[0].email ${unset}`,
      `accounts[0].users[0].password ${unset}`,
      'accounts[0].users[1].role must be one of owner, developer, marketer, viewer, service',
      'accounts[0].users[2].email is not a valid email address: it has no @',
      'accounts[1] must be an object',
      'accounts[2].nam is unknown; allowed members are id, name, addOns, suspended, retentionDays, quota, archiveAddress, attachmentLimit, policy, users, senders, integrations, templates, lists, outboxSources',
      'accounts[2].name is required',
      'accounts[2].senders[0].address is not a valid email address: it has no @',
    ]);
  });

  test('a missing list of accounts is the only problem reported', async () => {
    assert.deepEqual(await manifestProblemTexts(parse({ accounts: { id: '${NOT_SET}' } })), [
      'accounts.id requires the environment variable NOT_SET, which isn’t set',
    ]);
    assert.deepEqual(await manifestProblemTexts(parse('3')), ['must be an object']);
    assert.deepEqual(await manifestProblemTexts(parse('null')), ['is empty; it must be an object']);
  });

  test('all duplicate members are reported', async () => {
    const problems = await manifestProblems(
      parse('accounts:\n  - id: "1"\n    id: "2"\n    name: S\n    name: T\n'),
    );
    assert.deepEqual(
      problems.map(({ line, message }) => [line, message]),
      [
        [3, 'contains a duplicate member'],
        [5, 'contains a duplicate member'],
      ],
    );
  });

  test('the rest of an invalid manifest is still checked', async () => {
    const whole = account({
      quota: { perDay: 1 },
      users: [{ email: 'ann@shop.test', role: 'owner' }],
      senders: [{ address: 'ann@shop.test', displayNames: ['Ann'] }],
      templates: [{ ...template, fields: { Name: { default: 'x' } } }],
      lists: [{ id: 'l-1', name: 'L' }],
    });
    const strange = fc.constantFrom<unknown>(null, 3, 'text', true, [], {}, [null], { wrong: 1 });
    const changes = fc.array(fc.tuple(fc.nat(), strange), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(changes, async (list) => {
        const manifest = structuredClone(whole);
        for (const [at, value] of list) replaceOne(manifest, at, value);
        await parse(JSON.stringify(manifest)).catch((error: unknown) =>
          assert.ok(error instanceof ManifestError, String(error)),
        );
      }),
    );
  });
});

/** Replaces one of the nested values with another value. */
function replaceOne(inside: unknown, at: number, value: unknown): void {
  const places: [Record<string, unknown>, string][] = [];
  const collect = (around: unknown): void => {
    if (typeof around !== 'object' || around === null) return;
    for (const [name, member] of Object.entries(around)) {
      places.push([around as Record<string, unknown>, name]);
      collect(member);
    }
  };
  collect(inside);
  const [around, name] = places[at % places.length] ?? [];
  if (around !== undefined && name !== undefined) around[name] = structuredClone(value);
}

describe('files of a manifest', () => {
  test('a missing file, a folder and non-UTF-8 text are reported with the path', async () => {
    mkdirSync(join(folder, 'folder'));
    writeFileSync(join(folder, 'latin1.html'), Buffer.from([0x48, 0xe9, 0x21]));
    const manifest = account({
      templates: [
        { ...template, html: { file: 'missing.html' } },
        { ...template, id: 't-2', mjml: { file: 'folder' } },
        { ...template, id: 't-3', text: { file: 'latin1.html' } },
      ],
      lists: [{ id: 'l-1', name: 'L', csv: 'missing.csv' }],
    });
    assert.deepEqual((await manifestProblemTexts(parse(manifest, { folder }))).sort(), [
      'accounts[0].lists[0].csv missing.csv does not exist',
      'accounts[0].templates[0].html missing.html does not exist',
      'accounts[0].templates[1].mjml folder is not a file',
      'accounts[0].templates[2].text latin1.html is not UTF-8 text',
    ]);
  });

  test('a file that is too large, an endless device or a pipe without a writer is rejected', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    writeFileSync(join(folder, 'large.html'), 'x'.repeat(2 * 1024 * 1024 + 1));
    const manifest = account({
      templates: [
        { ...template, html: { file: 'large.html' } },
        { ...template, id: 't-2', html: { file: '/dev/zero' } },
        { ...template, id: 't-3', html: { file: 'pipe' } },
      ],
    });
    assert.deepEqual(await manifestProblemTexts(parse(manifest, { folder })), [
      'accounts[0].templates[0].html large.html is larger than 2097152 bytes',
      'accounts[0].templates[1].html /dev/zero is not a file',
      'accounts[0].templates[2].html pipe is not a file',
    ]);
  });

  test('invalid rows of a list are reported by line', async () => {
    writeFileSync(
      join(folder, 'wrong.csv'),
      'Name,EMAIL\nAda,ada@shop.test\nAlan,alan\n"Grace\nHopper",ADA@SHOP.TEST\nHedy\n',
    );
    const manifest = account({ lists: [{ id: 'l-1', name: 'L', csv: 'wrong.csv' }] });
    assert.deepEqual(await manifestProblemTexts(parse(manifest, { folder })), [
      'accounts[0].lists[0].csv wrong.csv line 3: The address has no @',
      'accounts[0].lists[0].csv wrong.csv line 5: The address repeats line 2',
      'accounts[0].lists[0].csv wrong.csv line 6: The row has 1 column, but the header has 2 columns',
    ]);
  });
});

describe('duplicates', () => {
  test('accounts, integrations, users, senders, templates and lists are unique', async () => {
    const parts = {
      users: [
        { email: 'ann@shop.test', role: 'owner' },
        { email: 'ANN@shop.test', role: 'viewer' },
      ],
      senders: [{ address: 'a@shop.test' }, { address: 'A@SHOP.test' }],
      templates: [template, template],
      lists: [
        { id: 'l', name: 'L' },
        { id: 'l', name: 'M' },
      ],
    };
    const integrations = [{ clientId: 'demo', name: 'Demo' }];
    const manifest = {
      accounts: [
        { id: '1', name: 'One', ...parts, integrations },
        { id: '1', name: 'Two', integrations },
      ],
    };
    assert.deepEqual(await manifestProblemTexts(parse(manifest)), [
      'accounts[0].users[1].email duplicates accounts[0].users[0].email',
      'accounts[0].senders[1].address duplicates accounts[0].senders[0].address',
      'accounts[0].templates[1].id duplicates accounts[0].templates[0].id',
      'accounts[0].lists[1].id duplicates accounts[0].lists[0].id',
      'accounts[1].id duplicates accounts[0].id',
      'accounts[1].integrations[0].clientId duplicates accounts[0].integrations[0].clientId',
    ]);
  });

  test('a person in several accounts has the same name and password', async () => {
    const user = (members: object) => [{ email: 'ann@shop.test', role: 'owner', ...members }];
    const manifest = {
      accounts: [
        { id: '1', name: 'One', users: user({ name: 'Ann' }) },
        { id: '2', name: 'Two', users: user({ name: 'Anna', password: 'one long password' }) },
        { id: '3', name: 'Three', users: user({ password: 'two long password' }) },
      ],
    };
    assert.deepEqual(await manifestProblemTexts(parse(manifest)), [
      'accounts[1].users[0].name differs from accounts[0].users[0].name for the same person',
      'accounts[2].users[0].password differs from accounts[1].users[0].password for the same person',
    ]);
  });
});

describe('single values', () => {
  test('addresses, redirect URLs and control characters are validated', async () => {
    const manifest = account({
      name: 'A\u0000B',
      users: [{ email: 'ann', role: 'owner' }],
      senders: [{ address: 'a b@shop.test', displayNames: ['ok', 'line\nbreak'] }],
      integrations: [{ clientId: 'demo', name: 'Demo', redirectUri: 'http://shop.test/' }],
      templates: [{ ...template, sender: '@shop.test', createdBy: 'ann@' }],
    });
    assert.deepEqual((await manifestProblemTexts(parse(manifest))).sort(), [
      'accounts[0].integrations[0].redirectUri must be https unless the host is loopback',
      'accounts[0].name contains a control character',
      'accounts[0].senders[0].address is not a valid email address: it has spaces',
      'accounts[0].senders[0].displayNames[1] contains a control character',
      'accounts[0].templates[0].createdBy is not a valid email address: it has nothing after the @',
      'accounts[0].templates[0].sender is not a valid email address: it has nothing before the @',
      'accounts[0].users[0].email is not a valid email address: it has no @',
    ]);
  });

  test('the length of a password counts characters, not bytes', async () => {
    const user = { email: 'ann@shop.test', role: 'owner' };
    const eleven = account({ users: [{ ...user, password: '🗝'.repeat(11) }] });
    assert.equal((await manifestProblemTexts(parse(eleven))).length, 1);
    await parse(account({ users: [{ ...user, password: '🗝'.repeat(12) }] }));
  });

  test('paths quote unusual names', () => {
    const path = formatPath(['accounts', 0, 'templates', 1, 'fields', 'First Name', 'default']);
    assert.equal(path, 'accounts[0].templates[1].fields["First Name"].default');
  });

  test('a field may have any name, such as constructor or __proto__', async () => {
    const text = `accounts: [{ id: "1", name: S, templates: [{ id: t, name: T, createdBy: a@b.test, subject: S, text: x,
      fields: { constructor: { default: c }, __proto__: { default: p }, "a/b~c": { wrong: 1 } } }] }]`;
    assert.deepEqual(await manifestProblemTexts(parse(text)), [
      'accounts[0].templates[0].fields["a/b~c"].wrong is unknown; allowed members are kind, default, sample, description, fields, secret, guard',
    ]);
    const manifest = await parse(text.replace('wrong: 1', 'sample: s'));
    const fields = manifest.accounts[0]?.templates[0]?.source.fields ?? {};
    assert.deepEqual(Object.keys(fields), ['constructor', '__proto__', 'a/b~c']);
  });
});
