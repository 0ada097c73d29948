import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import {
  deleteRemovedImages,
  sweepAttachments,
} from '../../../src/outcomes/retention/delete-old-store.ts';
import { testAccountFirst } from '../../support/account-first.ts';
import { type ManagedShop, openManagedShop } from '../../support/management-client.ts';
import { newAccountId, openSharedShop } from '../../support/test-shop.ts';

const managed = await openSharedShop({ worker: false });
const { database, service, owner, path, shop } = managed;
const other = await openManagedShop(database, service, newAccountId());

const mebibyte = 1_024 * 1_024;
const pngHead = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const png = (size = 200) => Buffer.concat([pngHead, randomBytes(size - pngHead.length)]);
const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

function upload(
  content: Buffer,
  filename = 'logo.png',
  { owner: caller, path: of }: ManagedShop = managed,
) {
  return caller.post(`${of}/images`, { filename, content: content.toString('base64') });
}

async function host(content: Buffer): Promise<string> {
  const response = await upload(content);
  assert.equal(response.status, 201, response.text);
  return String(response.body.url);
}

async function isStored(content: Buffer): Promise<boolean> {
  const { rowCount } = await database.pool.query(
    'select from attachment_content where account_id = $1 and sha256 = $2',
    [shop.id, Buffer.from(hashOf(content), 'hex')],
  );
  return rowCount === 1;
}

async function sweepAll(): Promise<void> {
  await database.pool.query(`update attachment_content set check_at = now() - interval '1 minute'`);
  await sweepAttachments(database.kysely);
}

test('anyone can load a hosted image by its content’s hash, as an image that runs nothing', async () => {
  const logo = png(700_000);
  const address = await host(logo);
  assert.equal(address, `${service.url}/images/${shop.id}/${hashOf(logo)}.png`);
  const loaded = await fetch(address);
  assert.equal(loaded.status, 200);
  assert.ok(Buffer.from(await loaded.arrayBuffer()).equals(logo));
  assert.equal(loaded.headers.get('content-type'), 'image/png');
  assert.equal(loaded.headers.get('x-content-type-options'), 'nosniff');
  assert.match(loaded.headers.get('content-security-policy') ?? '', /default-src 'none'; sandbox/);
  assert.equal(loaded.headers.get('cross-origin-resource-policy'), 'cross-origin');
  assert.equal(loaded.headers.get('set-cookie'), null);
  const etag = loaded.headers.get('etag') ?? '';
  const again = await fetch(address, { headers: { 'if-none-match': etag } });
  assert.equal(again.status, 304);
  const head = await fetch(address, { method: 'HEAD' });
  assert.equal(head.headers.get('content-length'), '700000');
  const { items } = (await owner.get(`${path}/images`)).body as { items: { url: string }[] };
  assert.equal(items[0]?.url, address);
});

test('an address opens only that account’s image, of that type, and tells nothing else', async () => {
  const logo = png();
  const address = await host(logo);
  const attached = png();
  await database.pool.query(
    `insert into attachment_content (account_id, sha256, content, check_at) values ($1, $2, $3, now())`,
    [shop.id, Buffer.from(hashOf(attached), 'hex'), attached],
  );
  const missing = [
    address.replace('.png', '.jpg'),
    address.replace('.png', ''),
    address.replace(`/${shop.id}/`, `/${other.shop.id}/`),
    address.replace(`/${shop.id}/`, '/nobody/'),
    address.replace(hashOf(logo), hashOf(attached)),
    address.replace(hashOf(logo), hashOf(logo).toUpperCase()),
    `${service.url}/images/${shop.id}/..%2f..%2fhealthz.png`,
    `${service.url}/images/%00/${hashOf(logo)}.png`,
  ];
  const responses = await Promise.all(
    missing.map(async (one) => {
      const response = await fetch(one);
      return { status: response.status, text: await response.text() };
    }),
  );
  assert.deepEqual(
    responses,
    missing.map(() => ({ status: 404, text: 'Image not found\n' })),
  );
  assert.equal((await upload(logo, 'own.png', other)).status, 201);
  assert.equal((await other.owner.delete(`${other.path}/images/${hashOf(logo)}`)).status, 204);
  assert.equal((await fetch(address)).status, 200, 'the other account removed only its own');
  assert.equal((await other.owner.get(`${path}/images`)).status, 404);
});

test('only images that their content shows to be PNG, JPEG, GIF or WebP are hosted, up to 2 MiB', async () => {
  const gif = Buffer.from('GIF89a and a picture', 'latin1');
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>');
  const page = Buffer.from('<!doctype html><script>alert(1)</script>');
  const fieldOf = async (content: Buffer, filename: string) => {
    const { status, body } = await upload(content, filename);
    return status === 201
      ? body.contentType
      : (body.errors as { readonly field: string }[])[0]?.field;
  };
  const jpeg = Buffer.from('\xff\xd8\xff and a picture', 'latin1');
  const webp = Buffer.from('RIFF\x10\0\0\0WEBPVP8 picture', 'latin1');
  assert.equal(await fieldOf(gif, 'a.gif'), 'image/gif');
  assert.equal(await fieldOf(jpeg, 'a.jpg'), 'image/jpeg');
  assert.equal(await fieldOf(webp, 'a.webp'), 'image/webp');
  assert.equal(await fieldOf(gif, 'a.png'), 'filename');
  assert.equal(await fieldOf(svg, 'a.svg'), 'content');
  assert.equal(await fieldOf(svg, 'a.png'), 'content');
  assert.equal(await fieldOf(page, 'a.png'), 'content');
  assert.equal(await fieldOf(png(2 * mebibyte), 'a.png'), 'image/png');
  assert.equal(await fieldOf(png(2 * mebibyte + 1), 'a.png'), 'content');
  const broken = await owner.post(`${path}/images`, { filename: 'a.png', content: '?' });
  assert.equal(broken.status, 422);
});

test('a removed image is gone at once, its content is deleted later, and it can be hosted again', async () => {
  const logo = png();
  const address = await host(logo);
  await fetch(address);
  assert.equal((await owner.delete(`${path}/images/${hashOf(logo)}`)).status, 204);
  assert.equal((await fetch(address)).status, 404, 'also if its content is still in memory');
  assert.equal((await owner.delete(`${path}/images/${hashOf(logo)}`)).status, 404);
  await deleteRemovedImages(database.kysely);
  await sweepAll();
  assert.ok(await isStored(logo));
  assert.equal(await host(logo), address);
  assert.equal((await fetch(address)).status, 200);
  await owner.delete(`${path}/images/${hashOf(logo)}`);
  await database.pool.query(
    `update hosted_image set removed_at = now() - interval '61 minutes' where removed_at is not null`,
  );
  await deleteRemovedImages(database.kysely);
  await sweepAll();
  assert.equal(await isStored(logo), false);
  assert.equal((await fetch(address)).status, 404);
});

test('an account can host so many images and bytes, those it has just removed included', async () => {
  const limited = await openManagedShop(database, service, newAccountId());
  const logo = png();
  assert.equal((await upload(logo, 'a.png', limited)).status, 201);
  const pretend = (column: string, value: number) =>
    database.pool.query(`update hosted_image set ${column} = $1 where account_id = $2`, [
      value,
      limited.shop.id,
    ]);
  await pretend('size', 256 * mebibyte - 200);
  const second = png();
  assert.equal((await upload(second, 'b.png', limited)).status, 201);
  const full = await upload(png(), 'c.png', limited);
  assert.equal(full.status, 409, full.text);
  assert.match(String(full.body.detail), /256 MiB together\. Remove some/);
  assert.equal((await upload(second, 'renamed.png', limited)).status, 201, 'it is stored already');
  await limited.owner.delete(`${limited.path}/images/${hashOf(logo)}`);
  assert.equal((await upload(png(), 'd.png', limited)).status, 409);
  await pretend('size', 1);
  await database.pool.query(
    `insert into attachment_content (account_id, sha256, content, check_at)
     select $1, sha256(n::text::bytea), '', now() from generate_series(1, 998) n`,
    [limited.shop.id],
  );
  await database.pool.query(
    `insert into hosted_image (account_id, sha256, filename, content_type, size)
     select account_id, sha256, 'n.png', 'image/png', 1 from attachment_content
     where account_id = $1 and octet_length(content) = 0`,
    [limited.shop.id],
  );
  const many = await upload(png(), 'e.png', limited);
  assert.match(String(many.body.detail), /1000 hosted images, the max/);
  const first = await limited.owner.get(`${limited.path}/images?limit=500`);
  const cursor = encodeURIComponent(String(first.body.nextCursor));
  const rest = await limited.owner.get(`${limited.path}/images?limit=500&cursor=${cursor}`);
  const hashes = [first, rest].flatMap(({ body }) =>
    (body.items as { sha256: string }[]).map(({ sha256 }) => sha256),
  );
  assert.equal(new Set(hashes).size, 999, 'without the removed one');
});

test('many readers of many images at once are all served or told to retry', async () => {
  const images = Array.from({ length: 12 }, () => png(mebibyte));
  const addresses = await Promise.all(images.map(host));
  const responses = await Promise.all(
    [...addresses, ...addresses, ...addresses].map(async (address, index) => {
      const response = await fetch(address);
      const content = Buffer.from(await response.arrayBuffer());
      if (response.status === 503) return response.headers.get('retry-after') === '2';
      return content.equals(images[index % images.length] ?? Buffer.alloc(0));
    }),
  );
  assert.ok(responses.every(Boolean));
});

testAccountFirst(10);
