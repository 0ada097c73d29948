import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { apply, changed, manifestProblemTexts } from '../../support/manifest-world.ts';
import { createTestDatabase } from '../../support/test-database.ts';

const { database } = await createTestDatabase();
const folder = mkdtempSync(join(tmpdir(), 'images-'));

const pngHead = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const png = (text: string) => Buffer.concat([pngHead, Buffer.from(text)]);
writeFileSync(join(folder, 'logo.png'), png('logo'));

const inline = (content: Buffer) => ({ contentId: 'logo', content: content.toString('base64') });
const fromFile = (file: string) => ({ contentId: 'logo', content: { file } });

/** @param account new with each one, so that its contents are stored with it */
function manifestWith(account: string, images: readonly object[]) {
  return {
    accounts: [
      {
        id: account,
        name: 'Shop',
        users: [
          { email: 'ann@shop.test', name: 'Ann', password: 'a very long one', role: 'owner' },
        ],
        templates: [
          {
            id: 't-1',
            name: 'One',
            createdBy: 'ann@shop.test',
            subject: 'Hello',
            html: '<p>Hello</p><img src="cid:logo" alt="">',
            images,
          },
        ],
      },
    ],
  };
}

const applyImages = async (account: string, images: readonly object[], more: object = {}) =>
  changed(await apply(database, manifestWith(account, images), { folder, ...more }));

test('a new account gets a template with an image from a file', async () => {
  const changes = await applyImages('shop-1', [fromFile('logo.png')]);
  assert.ok(changes.includes('created template t-1'));
  const { rows } = await database.pool.query(
    `select c.content, i.version from template_image i
     join attachment_content c on c.account_id = i.account_id and c.sha256 = i.sha256
     where i.account_id = 'shop-1'`,
  );
  assert.deepEqual(rows, [{ content: png('logo'), version: 1 }]);
});

test('the same image inline changes nothing, and another one publishes a version', async () => {
  await applyImages('shop-2', [fromFile('logo.png')]);
  assert.deepEqual(await applyImages('shop-2', [inline(png('logo'))]), []);
  assert.deepEqual(await applyImages('shop-2', [inline(png('other'))]), ['changed template t-1']);
  const renamed = { ...inline(png('other')), filename: 'other.png' };
  assert.deepEqual(await applyImages('shop-2', [renamed]), ['changed template t-1']);
});

test('a dry run stores nothing', async () => {
  await applyImages('shop-3', [fromFile('logo.png')], { dryRun: true });
  const { rowCount } = await database.pool.query(
    "select from attachment_content where account_id = 'shop-3'",
  );
  assert.equal(rowCount, 0);
});

const problemsOf = (images: readonly object[]) =>
  manifestProblemTexts(applyImages('shop-4', images));

test('what is not an image is reported with its place', async () => {
  writeFileSync(join(folder, 'page.html'), '<p>Hello</p>');
  const at = 'accounts[0].templates[0].images';
  assert.deepEqual(await problemsOf([fromFile('page.html')]), [
    `${at}[0].content is not one of image/png, image/jpeg, image/gif, image/webp`,
  ]);
  assert.deepEqual(await problemsOf([fromFile('missing.png')]), [
    `${at}[0].content missing.png does not exist`,
  ]);
  assert.deepEqual(await problemsOf([inline(png('a')), inline(png('b'))]), [
    `${at}[1].contentId is used by another image`,
  ]);
  writeFileSync(join(folder, 'large.png'), png('a'.repeat(2 * 1024 * 1024)));
  assert.match(String(await problemsOf([fromFile('large.png')])), /is larger than 2097152 bytes/);
  const half = (id: string) => ({ ...inline(png('a'.repeat(1_100_000))), contentId: id });
  assert.deepEqual(await problemsOf([half('a'), half('b')]), [
    `${at} must not be larger than 2097152 bytes together; use smaller images`,
  ]);
  const stored = { contentId: 'logo', sha256: '0'.repeat(64) };
  assert.match(String(await problemsOf([stored])), /images\[0\]/);
});
