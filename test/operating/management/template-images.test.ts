import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Permission } from '../../../src/accounts/access/permission.ts';
import {
  deleteTrialVersions,
  sweepAttachments,
} from '../../../src/outcomes/retention/delete-old-store.ts';
import { addKey } from '../../support/api-key.ts';
import { startSink } from '../../support/mail-sink.ts';
import { ManagementClient } from '../../support/management-client.ts';
import { type ReadMail, readSentMail } from '../../support/read-mail.ts';
import { bodyWith } from '../../support/send-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { saveShop } from '../../support/shop.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const sink = await startSink();
const {
  database,
  service,
  owner,
  path,
  shop,
  client: sender,
} = await openTestShop({
  movesClock: true,
  environment: { DELIVERY: 'relay', SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off` },
});
const key = new ManagementClient(
  service,
  await addKey(database, shop.id, { scopes: ['templates:read', 'templates:write'] }),
);

const mebibyte = 1_024 * 1_024;
const pngHead = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

function png(size = 200): Buffer {
  return Buffer.concat([pngHead, randomBytes(size - pngHead.length)]);
}

const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

function image(content: Buffer, contentId = 'logo', more: object = {}) {
  return { contentId, content: content.toString('base64'), ...more };
}

function contentWith(images: readonly unknown[], html = '<p>Hello</p><img src="cid:logo" alt="">') {
  return { subject: 'Hello', html, sender: 'orders@shop.test', fields: {}, images };
}

let count = 0;

/** A new template with a draft; the path of the template. */
async function draft(content: object): Promise<string> {
  count += 1;
  const template = `${path}/templates/t-images-${count}`;
  assert.equal((await owner.put(template, { name: 'Images' })).status, 201);
  const response = await owner.put(`${template}/draft`, content);
  assert.equal(response.status, 201, response.text);
  return template;
}

async function publish(content: object): Promise<string> {
  const template = await draft(content);
  const response = await owner.post(`${template}/publish`, {});
  assert.equal(response.status, 200, response.text);
  return template;
}

const idOf = (template: string): string => template.slice(template.lastIndexOf('/') + 1);

function newAddress(): string {
  count += 1;
  return `r${count}@people.test`;
}

function requestTo(to: string, content: object = {}) {
  return bodyWith({
    envelope: { toAddress: to },
    content: { personalizationDataMap: {}, ...content },
    actions: { trackOpens: false, trackClicks: false },
  });
}

interface Received {
  readonly source: string;
  readonly mail: ReadMail;
}

async function receive(to: string): Promise<Received> {
  const source = await waitFor(
    'the mail',
    () => sink.mails.find((mail) => mail.to.includes(to))?.source,
  );
  return { source, mail: readSentMail(source) };
}

async function sendAndReceive(template: string, content: object = {}): Promise<Received> {
  const to = newAddress();
  await sender.accept({ template: idOf(template), body: requestTo(to, content) });
  return receive(to);
}

const cidsOf = ({ mail }: Received) => mail.files.map(({ contentId }) => contentId);

async function isStored(content: Buffer): Promise<boolean> {
  const { rowCount } = await database.pool.query(
    'select from attachment_content where sha256 = $1',
    [Buffer.from(hashOf(content), 'hex')],
  );
  return rowCount === 1;
}

async function sweepAll(): Promise<void> {
  await database.pool.query(`update attachment_content set check_at = now() - interval '1 minute'`);
  await sweepAttachments(database.kysely);
}

const tried = await draft(contentWith([]));

async function saveStatus(images: readonly unknown[], caller = owner): Promise<unknown> {
  const response = await caller.put(`${tried}/draft`, contentWith(images));
  if (response.status === 200) return 'OK';
  assert.equal(response.status, 422, response.text);
  return (response.body.errors as { readonly field: string }[])[0]?.field;
}

test('a message shows the images of its template as inline parts in multipart/related', async () => {
  const logo = png();
  const received = await sendAndReceive(await publish(contentWith([image(logo)])));
  const { source, mail } = received;
  const types = [...source.matchAll(/^Content-Type: (multipart\/\w+)/gm)].map(([, type]) => type);
  assert.deepEqual(types, ['multipart/related', 'multipart/alternative']);
  const [attachment] = mail.files;
  assert.equal(attachment?.contentId, 'logo');
  assert.equal(attachment?.filename, 'logo.png');
  assert.equal(attachment?.type, 'image/png');
  assert.match(source, /^Content-Disposition: inline;/m);
  assert.deepEqual(attachment?.content, logo);
  assert.match(mail.html ?? '', /src="cid:logo/);
});

test('only the images that the HTML shows are sent, wherever it shows them', async () => {
  const html = `<html><head><style>@media (max-width: 9px) { p { background: url(cid:sheet) } }</style></head>
    <body><p style="background: url('cid:style')">Hello</p><img src="cid:a%40b" alt="">
    <!--[if mso]><v:fill src="cid:outlook" /><![endif]--><table background="cid:table"></table></body></html>`;
  const ids = ['unused', 'sheet', 'style', 'a@b', 'outlook', 'table'];
  const images = ids.map((contentId) => image(png(), contentId));
  const received = await sendAndReceive(await publish(contentWith(images, html)));
  assert.deepEqual(cidsOf(received), ids.slice(1));
});

test('a variant sends the images that it shows, and no other ones', async () => {
  const [logo, flag] = [png(), png()];
  const template = await publish({
    ...contentWith([image(logo), image(flag, 'flag')]),
    variants: { de: { subject: 'Hallo', html: '<p>Hallo</p><img src="cid:flag" alt="">' } },
  });
  assert.deepEqual(cidsOf(await sendAndReceive(template)), ['logo']);
  assert.deepEqual(cidsOf(await sendAndReceive(template, { locale: 'de-AT' })), ['flag']);
});

test('MJML shows images too', async () => {
  const mjml =
    '<mjml><mj-body><mj-section><mj-column><mj-image src="cid:logo" alt="" /></mj-column></mj-section></mj-body></mjml>';
  const { html: _, ...content } = contentWith([image(png())]);
  assert.deepEqual(cidsOf(await sendAndReceive(await publish({ ...content, mjml }))), ['logo']);
});

test('a field in a cid can mean any image of the template', async () => {
  const html = '<p>Hello</p><img src="cid:{{Mood}}" alt="">';
  const images = [image(png(), 'happy'), image(png(), 'sad')];
  const template = await publish(contentWith(images, html));
  const received = await sendAndReceive(template, { personalizationDataMap: { Mood: 'sad' } });
  assert.deepEqual(cidsOf(received), ['happy', 'sad']);
  assert.match(received.mail.html ?? '', /src="cid:sad/);
});

test('an attachment of the request replaces the image with its contentId', async () => {
  const [own, other, request] = [png(), png(), png()];
  const html = '<p>Hello</p><img src="cid:logo" alt=""><img src="cid:foot" alt="">';
  const template = await publish(contentWith([image(own), image(other, 'foot')], html));
  const attachment = { ...image(request), filename: 'own.png', contentType: 'image/png' };
  const { mail } = await sendAndReceive(template, { attachments: [attachment] });
  assert.deepEqual(
    mail.files.map(({ contentId, content }) => [contentId, hashOf(content)]),
    [
      ['logo', hashOf(request)],
      ['foot', hashOf(other)],
    ],
  );
});

test('a message keeps the images of the version that it was accepted with', async () => {
  const [before, after] = [png(), png()];
  const template = await publish(contentWith([image(before)]));
  const first = await sendAndReceive(template);
  await owner.put(`${template}/draft`, contentWith([image(after)]));
  assert.equal((await owner.post(`${template}/publish`, {})).body.version, 2);
  assert.deepEqual(first.mail.files[0]?.content, before);
  assert.deepEqual((await sendAndReceive(template)).mail.files[0]?.content, after);
  assert.equal((await owner.post(`${template}/roll-back`, { version: 1 })).status, 200);
  assert.deepEqual((await sendAndReceive(template)).mail.files[0]?.content, before);
});

test('publishing the same images again creates no version, and another image does', async () => {
  const logo = png();
  const template = await publish(contentWith([image(logo)]));
  await owner.put(`${template}/draft`, contentWith([image(logo)]));
  assert.equal((await owner.post(`${template}/publish`, {})).body.version, 1);
  await owner.put(`${template}/draft`, contentWith([image(png())]));
  assert.equal((await owner.post(`${template}/publish`, {})).body.version, 2);
});

test('a cid without an image is a warning that names it, since a request can bring it', async () => {
  const html = '<p>Hello</p><img src="cid:logo" alt=""><img src="cid:receipt" alt="">';
  const template = await draft(contentWith([image(png()), image(png(), 'spare')], html));
  const preview = await owner.post(`${template}/preview`, {});
  const problems = preview.body.problems as Record<string, string>[];
  assert.deepEqual(
    problems.map(({ severity, part, rule }) => [severity, part, rule]),
    [
      ['warning', 'html', 'unknown-image'],
      ['warning', 'html', 'unused-image'],
    ],
  );
  assert.match(problems[0]?.message ?? '', /cid:receipt/);
  assert.match(problems[1]?.message ?? '', /cid:spare/);
  const published = await owner.post(`${template}/publish`, {});
  assert.match(String(published.body.notes), /cid:receipt.*cid:spare/);
  const receipt = { ...image(png(), 'receipt'), filename: 'r.png', contentType: 'image/png' };
  const received = await sendAndReceive(template, { attachments: [receipt] });
  assert.deepEqual(cidsOf(received), ['receipt', 'logo']);
});

test('a message rendered again names the images of its template that no attachment replaces', async () => {
  const logo = png();
  const html = '<p>Hello</p><img src="cid:logo" alt=""><img src="cid:foot" alt="">';
  const images = [image(logo), image(png(), 'foot'), image(png(), 'unused')];
  const template = await publish(contentWith(images, html));
  const foot = { ...image(png(), 'foot'), filename: 'f.png', contentType: 'image/png' };
  const body = requestTo(newAddress(), { attachments: [foot] });
  const { messageId } = (await sender.send({ template: idOf(template), body })).body;
  const rendered = await owner.get(`${path}/messages/${messageId}/rendered`);
  assert.match(String(rendered.body.html), /src="cid:logo"/);
  assert.deepEqual(rendered.body.images, [
    {
      contentId: 'logo',
      filename: 'logo.png',
      contentType: 'image/png',
      size: 200,
      sha256: hashOf(logo),
    },
  ]);
});

test('a message’s images are those of its version, also once the template is deleted, for those who can read messages', async () => {
  const [logo, later] = [png(), png()];
  const template = await publish(contentWith([image(logo)]));
  const sent = await sender.send({ template: idOf(template), body: requestTo(newAddress()) });
  await owner.put(`${template}/draft`, contentWith([image(later)]));
  assert.equal((await owner.post(`${template}/publish`, {})).status, 200);
  assert.equal((await owner.delete(template)).status, 204);
  const images = `${service.url}/manage/v1${path}/messages/${sent.body.messageId}/images`;
  const read = async (content: Buffer, scopes: readonly Permission[]) => {
    const authorization = `Bearer ${await addKey(database, shop.id, { scopes })}`;
    return fetch(`${images}/${hashOf(content)}`, { headers: { authorization } });
  };
  const download = await read(logo, ['messages:read']);
  assert.ok(Buffer.from(await download.arrayBuffer()).equals(logo));
  assert.equal((await read(later, ['messages:read'])).status, 404);
  assert.equal((await read(logo, ['templates:read'])).status, 403);
});

test('a test message of a draft has its images', async () => {
  const logo = png();
  const template = await draft(contentWith([image(logo)]));
  const to = newAddress();
  const response = await owner.post(`${template}/test-send`, { to });
  assert.equal(response.status, 202, response.text);
  assert.deepEqual((await receive(to)).mail.files[0]?.content, logo);
  await owner.delete(`${template}/draft`);
  await sweepAll();
  assert.ok(await isStored(logo), 'the test message can be resent');
  await database.pool.query(
    "update template_version set keep_until = now() - interval '1 s' where template_id = $1",
    [idOf(template)],
  );
  await deleteTrialVersions(database.kysely);
  await sweepAll();
  assert.equal(await isStored(logo), false);
});

test('a draft has the facts of its images, and is saved again by their hashes', async () => {
  const logo = png();
  const template = await draft(contentWith([image(logo, 'logo', { filename: 'Shop.PNG' })]));
  const { content } = (await owner.get(`${template}/draft`)).body as {
    content: { images: object[] };
  };
  const sha256 = hashOf(logo);
  assert.deepEqual(content.images, [
    { contentId: 'logo', filename: 'Shop.PNG', contentType: 'image/png', size: 200, sha256 },
  ]);
  assert.equal((await owner.put(`${template}/draft`, content)).status, 200);
  const renamed = { ...content, images: [{ contentId: 'mark', sha256 }] };
  assert.equal((await owner.put(`${template}/draft`, renamed)).status, 200);
  const saved = (await owner.get(`${template}/draft`)).body as { content: { images: object[] } };
  assert.deepEqual(saved.content.images, [
    { contentId: 'mark', filename: 'mark.png', contentType: 'image/png', size: 200, sha256 },
  ]);
});

test('an image is downloaded as bytes that no browser renders, by those who can read templates', async () => {
  const logo = png(700_000);
  const template = await publish(contentWith([image(logo)]));
  const address = `${service.url}/manage/v1${template}/images/${hashOf(logo)}`;
  const token = await addKey(database, shop.id, { scopes: ['templates:read'] });
  const download = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(download.status, 200);
  assert.equal(download.headers.get('content-type'), 'application/octet-stream');
  assert.equal(download.headers.get('x-content-type-options'), 'nosniff');
  assert.match(download.headers.get('content-disposition') ?? '', /^attachment;/);
  assert.ok(Buffer.from(await download.arrayBuffer()).equals(logo));
  const other = await addKey(database, shop.id, { scopes: ['messages:read'] });
  const denied = await sendRequest(address, { headers: { authorization: `Bearer ${other}` } });
  assert.equal(denied.status, 403);
  assert.equal((await sendRequest(address)).status, 401);
  assert.equal((await owner.get(`${template}/images/${hashOf(png())}`)).status, 404);
  assert.equal((await owner.get(`${template}/images/logo`)).status, 404);
});

test('a hash opens only images of the same template', async () => {
  const logo = png();
  await publish(contentWith([image(logo)]));
  const attached = png();
  const receiving = await publish(contentWith([]));
  await sendAndReceive(receiving, {
    attachments: [{ ...image(attached), filename: 'a.png', contentType: 'image/png' }],
  });
  for (const content of [logo, attached]) {
    const reference = { contentId: 'logo', sha256: hashOf(content) };
    assert.equal(await saveStatus([reference]), 'images[0].sha256');
    const download = await owner.get(`${receiving}/images/${hashOf(content)}`);
    assert.equal(download.status, 404);
  }
});

const gif = Buffer.from('GIF89a and a picture', 'latin1');
const jpeg = Buffer.from('\xff\xd8\xff and a picture', 'latin1');
const webp = Buffer.from('RIFF\x10\0\0\0WEBPVP8 picture', 'latin1');
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>');

for (const [type, content, filename] of [
  ['image/png', png(), 'a.png'],
  ['image/jpeg', jpeg, 'a.jpg'],
  ['image/jpeg', jpeg, 'a.JPEG'],
  ['image/gif', gif, 'a.gif'],
  ['image/webp', webp, 'a.webp'],
] as const)
  test(`${filename} can be an image of a template`, async () => {
    const given = image(content, 'logo', { contentType: type, filename });
    assert.equal(await saveStatus([given]), 'OK');
    assert.equal(await saveStatus([given], key), 'OK');
    assert.equal(await saveStatus([image(content)]), 'OK');
  });

const invalid: readonly (readonly [what: string, given: object, field: string])[] = [
  ['an SVG', image(svg), 'content'],
  ['an SVG by its type', image(svg, 'a', { contentType: 'image/svg+xml' }), 'contentType'],
  ['a PDF', image(Buffer.from('%PDF-1.7')), 'content'],
  ['a GIF that claims to be a PNG', image(gif, 'a', { contentType: 'image/png' }), 'contentType'],
  [
    'a type with a line break',
    image(gif, 'a', { contentType: 'image/gif\r\nX: y' }),
    'contentType',
  ],
  ['an extension of another type', image(gif, 'a', { filename: 'a.exe' }), 'filename'],
  ['a path as name', image(gif, 'a', { filename: '../a.gif' }), 'filename'],
  ['a name that turns its direction', image(gif, 'a', { filename: '\u202ea.gif' }), 'filename'],
  ['a contentId with brackets', image(gif, '<a>'), 'contentId'],
  ['a contentId with a line break', image(gif, 'a\r\nb'), 'contentId'],
  ['an empty contentId', image(gif, ''), 'contentId'],
  ['a contentId of 101 characters', image(gif, 'a'.repeat(101)), 'contentId'],
  ['a name of 256 characters', image(gif, 'a', { filename: `${'a'.repeat(252)}.gif` }), 'filename'],
  ['no content', { contentId: 'a' }, 'content'],
  ['empty content', { contentId: 'a', content: '' }, 'content'],
  ['content that is not base64', { contentId: 'a', content: '!!!!' }, 'content'],
  ['content with a hash', image(gif, 'a', { sha256: hashOf(gif) }), 'sha256'],
  ['a hash that is none', { contentId: 'a', sha256: 'abc' }, 'sha256'],
  ['an address to fetch from', { contentId: 'a', path: 'https://x.test/a.png' }, 'path'],
];

for (const [what, given, field] of invalid)
  test(`${what} is refused`, async () => {
    const place = await saveStatus([given]);
    assert.equal(String(place).replaceAll('/', '.'), `images[0].${field}`);
  });

test('a contentId has up to 100 characters, and two images can’t share one', async () => {
  assert.equal(await saveStatus([image(gif, 'a'.repeat(100))]), 'OK');
  assert.equal(await saveStatus([image(gif), image(png())]), 'images[1].contentId');
});

test('a template has up to 20 images', async () => {
  const images = Array.from({ length: 21 }, (_, index) => image(png(), `i${index}`));
  for (const caller of [owner, key]) {
    assert.equal(await saveStatus(images.slice(0, 20), caller), 'OK');
    assert.equal(await saveStatus(images, caller), 'images');
  }
});

test('the images of a template have up to 2 MiB together, those it has already included', async () => {
  const [half, rest, more] = [png(mebibyte), png(mebibyte), png(mebibyte + 1)];
  for (const caller of [owner, key]) {
    assert.equal(await saveStatus([image(png(2 * mebibyte))], caller), 'OK');
    assert.equal(await saveStatus([image(half), image(rest, 'b')], caller), 'OK');
    assert.equal(await saveStatus([image(half), image(more, 'b')], caller), 'images');
  }
  const template = await draft(contentWith([image(half)]));
  const known = { contentId: 'logo', sha256: hashOf(half) };
  const save = async (second: Buffer) =>
    (await owner.put(`${template}/draft`, contentWith([known, image(second, 'b')]))).status;
  assert.equal(await save(more), 422);
  assert.equal(await save(rest), 200);
});

test('images beside the largest sources fit into a request, and nobody unknown can send that much', async () => {
  const template = await draft(contentWith([]));
  const large = { ...contentWith([image(png(2 * mebibyte))]), text: 'a'.repeat(2 * mebibyte) };
  assert.equal((await owner.put(`${template}/draft`, large)).status, 200);
  const anonymous = new ManagementClient(service, undefined);
  assert.equal((await anonymous.put(`${template}/draft`, large)).status, 401);
});

test('the same image is stored once, however many templates and contentIds have it', async () => {
  const logo = png();
  await publish(contentWith([image(logo), image(logo, 'again')]));
  await publish(contentWith([image(logo)]));
  const { rows } = await database.pool.query(
    `select count(*)::int as contents from attachment_content where sha256 = $1`,
    [Buffer.from(hashOf(logo), 'hex')],
  );
  assert.equal(rows[0]?.contents, 1);
});

test('the sweep keeps what a draft or version uses, and deletes what they no longer use', async () => {
  const [published, discarded, replaced, kept] = [png(), png(), png(), png()];
  await publish(contentWith([image(published)]));
  const template = await draft(contentWith([image(discarded)]));
  const other = await draft(contentWith([image(replaced)]));
  await sweepAll();
  for (const content of [published, discarded, replaced]) assert.ok(await isStored(content));
  assert.equal((await owner.delete(`${template}/draft`)).status, 204);
  await owner.put(`${other}/draft`, contentWith([image(kept)]));
  await sweepAll();
  assert.ok(!(await isStored(discarded)));
  assert.ok(!(await isStored(replaced)));
  assert.ok(await isStored(published));
  assert.ok(await isStored(kept));
});

test('the versions and the draft of a deleted template keep their images, as it can be created again', async () => {
  const [published, drafted] = [png(), png()];
  const template = await publish(contentWith([image(published)]));
  await owner.put(`${template}/draft`, contentWith([image(drafted)]));
  assert.equal((await owner.delete(template)).status, 204);
  await sweepAll();
  assert.ok(await isStored(published));
  assert.ok(await isStored(drafted));
});

test('a duplicate has images of its own, which outlive those of the original', async () => {
  const logo = png();
  const template = await draft(contentWith([image(logo)]));
  const copy = `${idOf(template)}-copy`;
  const response = await owner.post(`${template}/duplicate`, { id: copy, name: 'Copy' });
  assert.equal(response.status, 201, response.text);
  await owner.delete(template);
  await sweepAll();
  assert.equal((await owner.post(`${path}/templates/${copy}/publish`, {})).status, 200);
  const received = await sendAndReceive(`${path}/templates/${copy}`);
  assert.deepEqual(received.mail.files[0]?.content, logo);
});

test('a draft that is saved beside the sweep never loses its images', async () => {
  const contents = [png(), png()];
  const template = await draft(contentWith([]));
  let running = true;
  const sweeping = (async () => {
    while (running) await sweepAttachments(database.kysely);
  })();
  for (let round = 0; round < 40; round += 1) {
    // What the draft had two rounds ago is due when it is saved again.
    await database.pool.query(`update attachment_content c set check_at = now() - interval '1 s'
      where not exists (select from template_image i where i.sha256 = c.sha256)`);
    const content = contents[round % 2] ?? Buffer.alloc(0);
    const response = await owner.put(`${template}/draft`, contentWith([image(content)]));
    assert.equal(response.status, 200, response.text);
    assert.ok(await isStored(content));
  }
  running = false;
  await sweeping;
});

const limit = 1_200 * 1_024;
/** Base64 has 78 characters, its line break included, for 57 bytes. */
const bytesFor = (encoded: number): number => Math.floor(encoded / 78) * 57;

const fieldOf = ({ body }: { readonly body: Record<string, unknown> }): string =>
  (body.details as { readonly field: string }[]).map(({ field }) => field).join();

/** Sends until nodes know the account's new limit. */
function answerTo(template: string, content: object, isExpected: (status: number) => boolean) {
  return waitFor('the limit', async () => {
    const body = requestTo(newAddress(), content);
    const response = await sender.send({ template: idOf(template), body });
    return isExpected(response.status) && response;
  });
}

test('images count toward the size of a message with attachments', async () => {
  const template = await publish(contentWith([image(png(600_000))]));
  const attach = (encoded: number) => ({
    attachments: [
      {
        filename: 'a.bin',
        contentType: 'application/octet-stream',
        content: Buffer.alloc(bytesFor(encoded)).toString('base64'),
      },
    ],
  });
  const rest = limit - (600_000 / 57) * 78;
  await saveShop(database, { attachmentLimit: limit });
  const refused = await answerTo(template, attach(rest), (status) => status === 400);
  assert.equal(fieldOf(refused), 'content.attachments');
  const fitting = await answerTo(template, attach(rest - 16 * 1_024), () => true);
  assert.equal(fitting.status, 200, fitting.text);
});

test('a message is refused if its template’s images alone make it too large', async () => {
  const tooLarge = await publish(contentWith([image(png(bytesFor(limit)))]));
  const refused = await answerTo(tooLarge, {}, (status) => status === 400);
  assert.equal(fieldOf(refused), 'templateId');
  const fitting = await publish(contentWith([image(png(bytesFor(limit - 16 * 1_024)))]));
  assert.equal((await answerTo(fitting, {}, () => true)).status, 200);
  const replaced = { ...image(png()), filename: 'a.png', contentType: 'image/png' };
  const smaller = await answerTo(tooLarge, { attachments: [replaced] }, () => true);
  assert.equal(smaller.status, 200, smaller.text);
});

test('an account that can’t attach files still sends the images of its templates', async () => {
  await saveShop(database, { attachmentLimit: 0 });
  const template = await publish(contentWith([image(png(bytesFor(limit)))]));
  assert.equal((await answerTo(template, {}, (status) => status === 200)).status, 200);
  await saveShop(database);
});

test('a message of a template without images has no multipart/related', async () => {
  const template = await publish(contentWith([], '<p>Hello</p>'));
  const { source } = await sendAndReceive(template);
  assert.doesNotMatch(source, /multipart\/related/);
});

test('another account can’t see the images of a template', async () => {
  const logo = png();
  const template = await publish(contentWith([image(logo)]));
  const other = await saveShop(database, { id: '46200' });
  const stranger = new ManagementClient(
    service,
    await addKey(database, other, { scopes: ['templates:read'] }),
  );
  const address = `${template}/images/${hashOf(logo)}`;
  assert.equal((await stranger.get(address)).status, 404);
  const own = `/accounts/46200/templates/${idOf(template)}/images/${hashOf(logo)}`;
  assert.equal((await stranger.get(own)).status, 404);
});
