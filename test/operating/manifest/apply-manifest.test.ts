import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { verify } from '@node-rs/argon2';
import { ClientSecretHasher } from '../../../src/accounts/oauth/authenticate-client.ts';
import { readIntegration } from '../../../src/accounts/oauth/integration-store.ts';
import { MasterKey } from '../../../src/base/secrets/master-key.ts';
import type { AccountId, ClientId, TemplateId } from '../../../src/base/values/ids.ts';
import { applyManifest } from '../../../src/operating/manifest/apply-manifest.ts';
import {
  apply,
  changed,
  manifestProblemTexts,
  parse,
  summarizeChanges,
} from '../../support/manifest-world.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { testKey } from '../../support/test-service.ts';

const { database } = await createTestDatabase();
const { pool, kysely } = database;

const ann = {
  email: 'ann@shop.test',
  name: 'Ann',
  password: 'a very long password',
  role: 'owner',
};
const bob = { email: 'bob@shop.test', name: 'Bob', role: 'viewer' };
const orders = { address: 'orders@shop.test', displayNames: ['Shop', 'Orders'], verified: true };
const secret = 'a secret of many characters';

/** A separate account for each test, with one of everything. */
function shop(id: string, members: Record<string, unknown> = {}) {
  return {
    id,
    name: `Shop ${id}`,
    addOns: ['transactional'],
    users: [ann, bob],
    senders: [orders],
    integrations: [{ clientId: `client-${id}`, name: 'Client', clientSecret: secret }],
    templates: [receipt()],
    lists: [{ id: 'l-1', name: 'List' }],
    ...members,
  };
}

function receipt(members: Record<string, unknown> = {}) {
  return {
    id: 'receipt',
    name: 'Receipt',
    createdBy: 'ann@shop.test',
    sender: 'orders@shop.test',
    subject: 'Order {{Number}}',
    text: 'Thank you, {{Name}}',
    fields: { Number: { sample: 'A-1' }, Name: { default: 'you' } },
    ...members,
  };
}

const of = (...accounts: object[]) => ({ accounts });

async function count(table: string, where: string, values: unknown[]): Promise<number> {
  const { rows } = await pool.query(
    `select count(*)::int as count from ${table} where ${where}`,
    values,
  );
  return rows[0].count;
}

async function addToken(email: string, clientId: string): Promise<void> {
  await pool.query(
    `insert into access_token (hash, person_id, client_id, issued_at, expires_at)
     select sha256(random()::text::bytea), id, $2, now(), now() + interval '1 hour' from person where email = $1`,
    [email, clientId],
  );
  await pool.query(
    `insert into session_pair (person_id, client_id, refresh_hash)
     select id, $2, sha256(random()::text::bytea) from person where email = $1 on conflict do nothing`,
    [email, clientId],
  );
}

async function tokensOf(email: string): Promise<{ access: number; refresh: number }> {
  const person = 'person_id = (select id from person where email = $1)';
  return {
    access: await count('access_token', person, [email]),
    refresh: await count('session_pair', `refresh_hash is not null and ${person}`, [email]),
  };
}

describe('creating and changing', () => {
  test('the first apply creates everything, the second changes nothing', async () => {
    const manifest = of(shop('new'));
    assert.deepEqual(summarizeChanges(await apply(database, manifest)), [
      'created account new',
      'created user ann@shop.test',
      'created user bob@shop.test',
      'created sender orders@shop.test',
      'created integration client-new',
      'created template receipt',
      'created list l-1',
    ]);
    assert.deepEqual(changed(await apply(database, manifest)), []);
  });

  test('only differences are changed', async () => {
    await apply(database, of(shop('differ')));
    const changes = await apply(
      database,
      of(
        shop('differ', {
          suspended: true,
          users: [ann, { ...bob, role: 'developer' }],
          senders: [orders, { address: 'Help@shop.test' }],
        }),
      ),
    );
    assert.deepEqual(changed(changes), [
      'changed account differ',
      'changed user bob@shop.test',
      'created sender help@shop.test',
    ]);
    const { rows } = await pool.query("select * from account where id = 'differ'");
    assert.notEqual(rows[0].suspended_at, null);
    assert.deepEqual(rows[0].add_ons, ['transactional']);
  });

  test('omitted members of existing resources stay unchanged', async () => {
    await apply(database, of(shop('keep', { suspended: true, retentionDays: 400 })));
    const changes = await apply(
      database,
      of({
        id: 'keep',
        name: 'Shop keep',
        users: [{ email: 'ann@shop.test', role: 'owner' }],
        senders: [{ address: 'orders@shop.test' }],
        integrations: [{ clientId: 'client-keep', name: 'Client' }],
        lists: [{ id: 'l-1', name: 'List' }],
      }),
    );
    assert.deepEqual(changed(changes), []);
    const { rows } = await pool.query("select retention_days from account where id = 'keep'");
    assert.equal(rows[0].retention_days, 400);
  });

  test('new resources get the documented defaults', async () => {
    await apply(
      database,
      of({
        id: 'plain',
        name: 'Plain',
        users: [{ email: 'carl@shop.test', role: 'owner' }],
        senders: [{ address: 'carl@shop.test' }],
        integrations: [{ clientId: 'plain', name: 'Plain', clientSecret: secret }],
        templates: [receipt({ createdBy: 'carl@shop.test', sender: undefined })],
      }),
    );
    const integration = await readIntegration(kysely, 'plain' as ClientId);
    assert.equal(integration?.redirectUri, 'https://localhost/callback');
    assert.deepEqual([...(integration?.grants ?? [])], ['authorization_code', 'refresh_token']);
    const { rows } = await pool.query(
      `select a.retention_days, a.add_ons, a.suspended_at, s.verified_at, s.display_names, p.name, v.freshness_seconds,
         v.sender_address
       from account a join sender s on s.account_id = a.id join membership m on m.account_id = a.id
       join person p on p.id = m.person_id join template_version v on v.account_id = a.id where a.id = 'plain'`,
    );
    assert.deepEqual(rows, [
      {
        retention_days: 90,
        add_ons: [],
        suspended_at: null,
        verified_at: null,
        display_names: [],
        name: 'carl@shop.test',
        freshness_seconds: 900,
        sender_address: null,
      },
    ]);
  });

  test('a member of two accounts is a single person', async () => {
    const user = { email: 'both@shop.test', name: 'Both', role: 'owner' };
    const two = of(
      { id: 'z-first', name: 'First', users: [user] },
      { id: 'a-second', name: 'Second', users: [{ ...user, name: undefined }] },
    );
    assert.deepEqual(changed(await apply(database, two)), [
      'created account z-first',
      'created user both@shop.test',
      'created account a-second',
      'created user both@shop.test',
    ]);
    assert.equal(await count('person', 'email = $1', ['both@shop.test']), 1);
    const { rows } = await pool.query(
      `select account_id from membership m join person p on p.id = m.person_id where p.email = 'both@shop.test'
       order by m.created_at`,
    );
    assert.deepEqual(
      rows.map((row) => row.account_id),
      ['z-first', 'a-second'],
    );
  });

  test('client secrets are stored as keyed hashes and can be rotated', async () => {
    await apply(database, of(shop('rotate')));
    const secrets = new ClientSecretHasher(testKey);
    const clientId = 'client-rotate' as ClientId;
    const before = await readIntegration(kysely, clientId);
    assert.ok(secrets.matches(secret, before?.secretHash ?? Buffer.alloc(0)));
    const rotatedKey = new MasterKey(Buffer.alloc(32, 9), Buffer.alloc(32, 7));
    const again = await applyManifest(database, rotatedKey, await parse(of(shop('rotate'))));
    assert.deepEqual(changed(again), [], 'another master key is no other secret');
    const other = 'another secret of many characters';
    const integrations = [{ clientId, name: 'Client', clientSecret: other }];
    const changes = await apply(database, of(shop('rotate', { integrations })));
    assert.deepEqual(changed(changes), ['changed integration client-rotate']);
    const after = await readIntegration(kysely, clientId);
    assert.ok(secrets.matches(other, after?.secretHash ?? Buffer.alloc(0)));
  });
});

describe('templates', () => {
  const account = 'templates' as AccountId;
  const versions = () => count('template_version', 'account_id = $1', [account]);
  const applyTemplate = (members: Record<string, unknown>) =>
    apply(database, of(shop(account, { templates: [receipt(members)] })));

  test('only changed content creates a new version', async () => {
    await applyTemplate({});
    assert.equal(await versions(), 1);
    const reordered = { Name: { default: 'you' }, Number: { sample: 'A-1' } };
    assert.deepEqual(changed(await applyTemplate({ fields: reordered })), []);
    assert.deepEqual(changed(await applyTemplate({ text: 'Thank you, {{Name}}' })), []);
    assert.equal(await versions(), 1);
    let expected = 1;
    for (const members of [
      { text: 'Thanks, {{Name}}' },
      { subject: 'Your order {{Number}}' },
      { previewText: 'Thank you' },
      { fields: { Name: { default: '' } } },
      { fields: { Name: { default: '', secret: true } } },
      { sender: undefined },
      { freshnessMinutes: 5 },
      { html: '<p>Thank you</p>' },
    ]) {
      const changes = await applyTemplate(members);
      assert.deepEqual(changed(changes), ['changed template receipt'], JSON.stringify(members));
      expected += 1;
      assert.equal(await versions(), expected);
      const { notes } = changes.find(({ kind }) => kind === 'template') ?? { notes: [] };
      assert.equal(notes[0], `version ${expected}`);
    }
  });

  test('a new name or creator creates no new version', async () => {
    await applyTemplate({});
    const before = await versions();
    const changes = await applyTemplate({ name: 'Other', createdBy: 'bob@shop.test' });
    assert.deepEqual(changed(changes), ['changed template receipt']);
    assert.equal(await versions(), before);
  });

  test('whenUncertain is a template setting: it creates no version and stays if omitted', async () => {
    const setting = async () =>
      (
        await database.pool.query('select when_uncertain from template where account_id = $1', [
          account,
        ])
      ).rows[0]?.when_uncertain;
    await applyTemplate({});
    const before = await versions();
    assert.equal(await setting(), 'resend');
    assert.deepEqual(changed(await applyTemplate({ whenUncertain: 'hold' })), [
      'changed template receipt',
    ]);
    assert.equal(await setting(), 'hold');
    assert.deepEqual(changed(await applyTemplate({})), []);
    assert.equal(await setting(), 'hold');
    assert.equal(await versions(), before);
    await applyTemplate({ whenUncertain: 'resend' });
    assert.deepEqual(await manifestProblemTexts(applyTemplate({ whenUncertain: 'ask' })), [
      'accounts[0].templates[0].whenUncertain must be one of resend, hold',
    ]);
  });

  test('compile errors are reported with path, part and position', async () => {
    const before = await versions();
    const found = await manifestProblemTexts(
      apply(
        database,
        of(
          shop(account, {
            templates: [
              receipt({ subject: '{{#A}}', html: '<p>\n{{>partial}}</p>' }),
              receipt({ id: 'two', text: undefined }),
              receipt({ id: 'three', html: 'x', mjml: '<mjml></mjml>' }),
            ],
          }),
        ),
      ),
    );
    const paths = found.map((line) => line.slice(0, line.indexOf(' ')));
    assert.deepEqual(paths, [
      'accounts[0].templates[0].subject',
      'accounts[0].templates[0].html',
      'accounts[0].templates[1].html',
      'accounts[0].templates[2].mjml',
    ]);
    assert.match(found[1] ?? '', /\(line 2, column 1\) .*partials/);
    assert.equal(await versions(), before);
  });

  test('template warnings are reported and block nothing', async () => {
    const changes = await applyTemplate({ fields: { Name: {}, Number: {}, Unused: {} } });
    const { notes } = changes.find(({ kind }) => kind === 'template') ?? { notes: [] };
    assert.match(notes.join(), /warning: fields .*Unused/);
  });

  test('the creator must be a user and the sender a sender of the account', async () => {
    const templates = [receipt({ createdBy: 'stranger@shop.test', sender: 'nobody@shop.test' })];
    assert.deepEqual(
      await manifestProblemTexts(apply(database, of(shop(account, { templates })))),
      [
        'accounts[0].templates[0].sender must be a sender of the account',
        'accounts[0].templates[0].createdBy must be a user of the account',
      ],
    );
    // Existing ones of the account count too, unless they are about to be removed.
    const rest = { users: [], senders: [] };
    await apply(database, of(shop(account, rest)));
    assert.equal(
      (await manifestProblemTexts(apply(database, of(shop(account, rest)), { prune: true })))
        .length,
      2,
    );
  });

  test('a template whose creator and sender have left stays as it is and can be changed', async () => {
    const by = { createdBy: 'bob@shop.test' };
    await applyTemplate(by);
    await pool.query(
      `delete from membership where account_id = $1 and person_id = (select id from person where email = $2)`,
      [account, by.createdBy],
    );
    await pool.query('delete from sender where account_id = $1', [account]);
    const rest = { users: [ann], senders: [] };
    const left = (template: object) =>
      apply(database, of(shop(account, { ...rest, templates: [template] })));
    assert.deepEqual(changed(await left(receipt(by))), []);
    const own = receipt({ ...by, sender: undefined, text: 'Goodbye, {{Name}}' });
    assert.deepEqual(changed(await left(own)), ['changed template receipt']);
    await apply(database, of(shop(account)));
  });

  test('a removed template is restored, with its version if the content is the same', async () => {
    await applyTemplate({});
    const before = await versions();
    await apply(database, of(shop(account, { templates: [] })), { prune: true });
    assert.equal(await count('template', 'account_id = $1 and removed_at is null', [account]), 0);
    assert.deepEqual(changed(await applyTemplate({})), ['created template receipt']);
    assert.equal(await versions(), before);
    assert.equal(await count('template', 'account_id = $1 and removed_at is null', [account]), 1);
  });
});

describe('passwords and tokens', () => {
  const hashOf = async (email: string): Promise<string> => {
    const { rows } = await pool.query('select password_hash from person where email = $1', [email]);
    return rows[0].password_hash;
  };
  const manifest = (password: string) =>
    of(shop('tokens', { users: [{ ...ann, email: 'token@shop.test', password }, ann] }));
  const first = 'the first long password';
  const second = 'the second long password';

  test('passwords are stored as argon2id with 19 MiB, 2 passes, 1 lane', async () => {
    await apply(database, manifest(first));
    const hash = await hashOf('token@shop.test');
    assert.match(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.ok(await verify(hash, first));
  });

  test('a password is only set for users without one; the apply reports existing ones as unchanged', async () => {
    await addToken('token@shop.test', 'client-tokens');
    const before = await hashOf('token@shop.test');
    const changes = await apply(database, manifest(second));
    assert.deepEqual(changed(changes), []);
    const notes = changes.find(({ id }) => id === 'token@shop.test')?.notes.join();
    assert.match(notes ?? '', /already has a different password, which stays unchanged/);
    assert.equal(await hashOf('token@shop.test'), before);
    assert.deepEqual(await tokensOf('token@shop.test'), { access: 1, refresh: 1 });
  });

  test('the same password changes and reports nothing', async () => {
    const changes = await apply(database, manifest(first));
    assert.deepEqual(changed(changes), []);
    assert.deepEqual(changes.find(({ id }) => id === 'token@shop.test')?.notes, []);
  });

  test('a user without a password gets a first one', async () => {
    await pool.query("update person set password_hash = null where email = 'token@shop.test'");
    const changes = await apply(database, manifest(second));
    assert.deepEqual(changed(changes), ['changed user token@shop.test']);
    assert.ok(await verify(await hashOf('token@shop.test'), second));
  });

  test('an apply is audited per account, unless it changed nothing', async () => {
    const applied = async () => {
      const { rows } = await database.pool.query(
        "select detail from audit_event where kind = 'manifest_applied' and account_id = 'audited' order by id",
      );
      return rows.map(({ detail }) => detail);
    };
    const audited = (password: string) =>
      of(shop('audited', { users: [{ ...ann, email: 'audited@shop.test', password }, ann] }));
    await apply(database, audited(first), { dryRun: true });
    await apply(database, audited(first));
    await apply(database, audited(first));
    const [made, ...more] = await applied();
    assert.ok(made.created > 0 && made.removed === 0 && made.newPasswords === 0);
    assert.deepEqual(more, []);
    await pool.query("update person set password_hash = null where email = 'audited@shop.test'");
    await apply(database, audited(second));
    assert.deepEqual((await applied())[1], { created: 0, changed: 1, removed: 0, newPasswords: 1 });
  });
});

describe('integrations', () => {
  test('a new integration needs a secret', async () => {
    const integrations = [{ clientId: 'none', name: 'None' }];
    assert.deepEqual(
      await manifestProblemTexts(apply(database, of(shop('secretless', { integrations })))),
      ['accounts[0].integrations[0].clientSecret is required for a new integration'],
    );
  });

  test('a client id of another account is rejected and left unchanged', async () => {
    await apply(database, of(shop('mine')));
    const integrations = [{ clientId: 'client-mine', name: 'Thief', clientSecret: secret }];
    assert.deepEqual(
      await manifestProblemTexts(apply(database, of(shop('thief', { integrations })))),
      ['accounts[0].integrations[0].clientId belongs to another account'],
    );
    const integration = await readIntegration(kysely, 'client-mine' as ClientId);
    assert.equal(integration?.accountId, 'mine');
    assert.equal(await count('account', 'id = $1', ['thief']), 0);
  });
});

describe('--prune', () => {
  const bare = (id: string) => of({ id, name: `Shop ${id}` });

  test('without it, nothing is removed', async () => {
    await apply(database, of(shop('stay')));
    assert.deepEqual(changed(await apply(database, bare('stay'))), []);
  });

  const empty = { senders: [], integrations: [], templates: [], lists: [] };

  test('with it, nothing is removed from a section that the manifest omits, nor a template that it can’t contain', async () => {
    await apply(database, of(shop('sections')));
    await database.pool.query(
      `insert into template (account_id, id, name, created_by)
       select 'sections', 't-draft', 'Draft', created_by from template where account_id = 'sections' limit 1`,
    );
    assert.deepEqual(changed(await apply(database, bare('sections'), { prune: true })), []);
    const { templates } = empty;
    const partly = of({ id: 'sections', name: 'Shop sections', templates });
    assert.deepEqual(changed(await apply(database, partly, { prune: true })), [
      'removed template receipt',
    ]);
  });

  test('with it, everything missing from the manifest is removed, within its accounts', async () => {
    await apply(database, of(shop('prune'), shop('spared')));
    await addToken('ann@shop.test', 'client-prune');
    const owned = of({
      id: 'prune',
      name: 'Shop prune',
      users: [{ email: 'ann@shop.test', role: 'owner' }],
      ...empty,
    });
    const nobody = of({ id: 'prune', name: 'Shop prune', users: [] });
    const kept = await manifestProblemTexts(apply(database, nobody, { prune: true }));
    assert.match(kept.join(), /accounts\[0\]\.users would leave no owner who can sign in/);
    assert.deepEqual(changed(await apply(database, owned, { prune: true })), [
      'removed user bob@shop.test',
      'removed sender orders@shop.test',
      'removed integration client-prune',
      'removed template receipt',
      'removed list l-1',
    ]);
    assert.equal(await count('membership', 'account_id = $1', ['prune']), 1);
    assert.equal(await count('access_token', 'client_id = $1', ['client-prune']), 0);
    assert.deepEqual(changed(await apply(database, of(shop('spared')), { prune: true })), []);
    // People stay: they may belong to other accounts; versions stay for the messages accepted with them.
    assert.equal(await count('person', 'email = $1', ['ann@shop.test']), 1);
    assert.equal(await count('template_version', 'account_id = $1', ['prune']), 1);
    assert.deepEqual(changed(await apply(database, owned, { prune: true })), []);
  });
});

describe('all or nothing', () => {
  test('--dry-run reports the same as an apply and changes nothing', async () => {
    const manifest = of(shop('dry'));
    const planned = await apply(database, manifest, { dryRun: true });
    assert.equal(await count('account', 'id = $1', ['dry']), 0);
    assert.deepEqual(await apply(database, manifest), planned);
  });

  test('a single problem prevents all changes, and every problem is reported', async () => {
    const bad = receipt({ subject: '{{' });
    const found = await manifestProblemTexts(
      apply(database, of(shop('good'), shop('bad', { templates: [bad, { ...bad, id: 'b' }] }))),
    );
    assert.equal(found.length, 2);
    assert.equal(await count('account', 'id = any($1)', [['good', 'bad']]), 0);
  });

  test('concurrent applies run one after another', async () => {
    const manifest = of(shop('race'));
    const results = await Promise.all([1, 2, 3, 4].map(() => apply(database, manifest)));
    const created = results.filter((changes) => changed(changes).length > 0);
    assert.equal(created.length, 1);
    assert.equal(
      await count('template_version', 'account_id = $1 and template_id = $2', [
        'race',
        'receipt' as TemplateId,
      ]),
      1,
    );
  });
});
