import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { apply, changed } from '../../support/manifest-world.ts';
import { createTestDatabase } from '../../support/test-database.ts';

const { database } = await createTestDatabase();

const some = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter(isName);
const people = ['ann@shop.test', 'Bob@shop.test', 'carl@shop.test'];
const addresses = ['orders@shop.test', 'Help@Bücher.test'];

function isName(text: string): boolean {
  return (
    /\S/.test(text) &&
    !/\p{Cc}/u.test(text) &&
    !text.includes('${') &&
    Array.from(text).length <= 200
  );
}

/** A subset of the entries with these ids, each once. */
function anySubset<Entry extends object>(
  ids: readonly string[],
  key: string,
  members: fc.Arbitrary<Entry>,
): fc.Arbitrary<object[] | undefined> {
  const one = (id: string) => members.map((entry) => ({ ...entry, [key]: id }));
  return some(
    fc.subarray([...ids]).chain((chosen) => fc.tuple(...chosen.map(one)).map((list) => [...list])),
  );
}

const field = fc.record({ default: some(name), sample: some(name), secret: some(fc.boolean()) });
const role = fc.constantFrom('owner', 'developer', 'marketer', 'viewer');

function accountOf(id: string): fc.Arbitrary<object> {
  return fc.record({
    id: fc.constant(id),
    name,
    addOns: some(fc.constantFrom([], ['transactional'])),
    suspended: some(fc.boolean()),
    archiveAddress: some(fc.constantFrom('', 'archive@shop.test')),
    retentionDays: some(fc.constantFrom(30, 90, 400)),
    // The creator of every template always exists, and owns the account, which keeps an owner.
    users: anySubset(people, 'email', fc.record({ role })).map((more) => [
      { email: 'maker@shop.test', role: 'owner' },
      ...(more ?? []),
    ]),
    senders: anySubset(
      addresses,
      'address',
      fc.record({
        displayNames: some(fc.uniqueArray(name, { maxLength: 3 })),
        verified: some(fc.boolean()),
      }),
    ),
    integrations: anySubset(
      [`client-${id}`, `other-${id}`],
      'clientId',
      fc.record({
        name,
        clientSecret: fc.constantFrom(
          'secret number one, quite long',
          'secret number two, quite long',
        ),
        redirectUri: some(fc.constantFrom('https://a.test/cb', 'com.example.app:/cb')),
        grants: some(fc.subarray(['password', 'refresh_token'], { minLength: 1 })),
      }),
    ),
    templates: anySubset(
      ['t-1', 't-2'],
      'id',
      fc.record({
        name,
        createdBy: fc.constant('Maker@shop.test'),
        subject: fc.constantFrom('Hello', 'Hello {{Name}}'),
        previewText: some(fc.constantFrom('', 'Preview {{Name}}')),
        text: fc.constantFrom('Text {{Name}}', 'Line\r\nline', 'Ünï {{#Name}}x{{/Name}}'),
        fields: some(fc.dictionary(fc.constantFrom('Name', 'constructor', '__proto__'), field)),
        freshnessMinutes: some(fc.integer({ min: 1, max: 100 })),
        whenUncertain: some(fc.constantFrom('resend', 'hold')),
      }),
    ),
    lists: anySubset(['l-1', 'l-2'], 'id', fc.record({ name, description: some(name) })),
    outboxSources: anySubset(
      ['orders', 'refunds'],
      'id',
      fc.record({
        table: fc.constant('email_outbox'),
        url: fc.constantFrom('postgres://u:one@db.shop.test/a', 'postgres://u:two@db.shop.test/a'),
        answers: some(fc.constant(null)),
        after: some(fc.constantFrom('keep', 'delete')),
        rowsPerSecond: some(fc.integer({ min: 1, max: 5_000 })),
      }),
    ),
  });
}

const manifest = fc
  .tuple(accountOf('one'), some(accountOf('two')))
  .map((accounts) => ({ accounts: accounts.filter((account) => account !== undefined) }));

test('applying a manifest twice changes nothing, whatever existed before', async () => {
  await fc.assert(
    fc.asyncProperty(manifest, fc.boolean(), async (given, prune) => {
      await apply(database, given, { prune });
      assert.deepEqual(changed(await apply(database, given, { prune })), []);
    }),
  );
});

test('after a prune, the account contains only what the manifest names', async () => {
  await fc.assert(
    fc.asyncProperty(manifest, manifest, async (before, after) => {
      await apply(database, before);
      await apply(database, after, { prune: true });
      const [account] = after.accounts as {
        id: string;
        templates?: { id: string }[];
        users: unknown[];
      }[];
      const { rows } = await database.pool.query(
        `select (select count(*)::int from membership where account_id = $1) as users,
           (select array_agg(id order by id) from template where account_id = $1 and removed_at is null) as templates`,
        [account?.id],
      );
      assert.equal(rows[0].users, account?.users.length);
      if (account?.templates === undefined) return;
      const templates = account.templates.map(({ id }) => id).sort();
      assert.deepEqual(rows[0].templates ?? [], templates);
    }),
  );
});
