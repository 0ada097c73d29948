import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { before, test } from 'node:test';
import { createPerson } from '../../../src/accounts/account/person-store.ts';
import type { AccountId, PersonId, TemplateId } from '../../../src/base/values/ids.ts';
import { compileVersion } from '../../../src/content/template/compile-version.ts';
import type { CompiledTemplate } from '../../../src/content/template/compiled-template.ts';
import { TemplateDirectory } from '../../../src/content/template/template-directory.ts';
import {
  publishVersion,
  readTemplates,
  removeTemplate,
  saveTemplate,
} from '../../../src/content/template/template-store.ts';
import { saveShop } from '../../support/shop.ts';
import { changeTimeoutMs, createTwoNodes } from '../../support/two-nodes.ts';
import { waitFor } from '../../support/wait-for.ts';

const nodes = await createTwoNodes();
const { kysely } = nodes.database;
let loads = 0;
const load = (compiled: CompiledTemplate) => {
  loads += 1;
  return { compiled };
};
const first = new TemplateDirectory(nodes.database, nodes.first, load);
const second = new TemplateDirectory(nodes.database, nodes.second, load);
const [shop, other] = ['shop', 'other'] as AccountId[] as [AccountId, AccountId];
const receipt = 'receipt' as TemplateId;
let owner: PersonId;

before(async () => {
  await nodes.start();
  for (const id of [shop, other]) {
    await saveShop(nodes.database, { id });
  }
  const person = await createPerson(kysely, {
    email: 'owner@shop.test',
    name: 'Owner',
    passwordHash: undefined,
  });
  owner = person.id;
});

async function publish(accountId: AccountId, subject: string): Promise<number> {
  const fields = { constructor: { default: 'nobody' } };
  const source = { subject, previewText: '', text: 'Hello {{constructor}}', fields };
  const { compiled } = await compileVersion({ source });
  assert.ok(compiled !== null);
  return kysely.transaction().execute(async (transaction) => {
    await saveTemplate(transaction, {
      accountId,
      id: receipt,
      name: 'Receipt',
      createdBy: owner,
    });
    return publishVersion(transaction, {
      accountId,
      templateId: receipt,
      contentHash: createHash('sha256').update(subject).digest(),
      senderAddress: undefined,
      freshnessSeconds: 900,
      source,
      compiled,
    });
  });
}

test('a published template is found with its sender, creator and freshness, and loaded once', async () => {
  assert.equal(await publish(shop, 'One'), 1);
  const found = await first.published(shop, receipt);
  assert.equal(found?.version, 1);
  assert.equal(found?.senderAddress, null);
  assert.equal(found?.createdByEmail, 'owner@shop.test');
  assert.equal(found?.freshnessSeconds, 900);
  assert.deepEqual(found?.template.compiled.subject, ['One']);
  const before = loads;
  await waitFor(
    'an answer from memory',
    () => !(first.published(shop, receipt) instanceof Promise),
  );
  assert.equal(first.version(shop, receipt, 1), found?.template);
  assert.equal(loads, before);
});

test('templates of other accounts are not found', async () => {
  assert.equal(await first.published(other, receipt), undefined);
  assert.equal(await first.version(other, receipt, 1), undefined);
  assert.equal(await first.published(shop, 'nothing' as TemplateId), undefined);
});

test("a new version is published on every node within a second, and the old one doesn't change", async () => {
  await second.published(shop, receipt);
  assert.equal(await publish(shop, 'Two'), 2);
  for (const directory of [first, second]) {
    await waitFor(
      'the second version',
      async () => (await directory.published(shop, receipt))?.version === 2,
      changeTimeoutMs,
    );
  }
  assert.deepEqual((await second.version(shop, receipt, 1))?.compiled.subject, ['One']);
  assert.deepEqual((await second.version(shop, receipt, 2))?.compiled.subject, ['Two']);
});

test('a removed template is no longer published, but its versions can still be rendered', async () => {
  await removeTemplate(kysely, shop, receipt);
  for (const directory of [first, second]) {
    await waitFor(
      'the template to be gone',
      async () => (await directory.published(shop, receipt)) === undefined,
      changeTimeoutMs,
    );
  }
  const [row] = await readTemplates(kysely, shop);
  assert.equal(row?.removed, true);
  const later = new TemplateDirectory(nodes.database, nodes.second, load);
  assert.deepEqual((await later.version(shop, receipt, 2))?.compiled.subject, ['Two']);
  assert.equal(await publish(shop, 'Three'), 3);
  assert.equal((await later.published(shop, receipt))?.version, 3);
});

test('concurrent lookups return each account its own templates', async () => {
  await publish(other, 'Other');
  const cold = new TemplateDirectory(nodes.database, nodes.first, load);
  const lookups = [
    [other, receipt],
    [other, 'nothing' as TemplateId],
    [shop, receipt],
    ['unknown' as AccountId, receipt],
  ] as const;
  const found = await Promise.all(lookups.map(([account, id]) => cold.published(account, id)));
  assert.deepEqual(
    found.map((published) => published?.template.compiled.subject),
    [['Other'], undefined, ['Three'], undefined],
  );
  const versions = await Promise.all(
    [1, 7, 2].map(async (version) => cold.version(shop, receipt, version)),
  );
  assert.deepEqual(
    versions.map((version) => version?.compiled.subject),
    [['One'], undefined, ['Two']],
  );
});
