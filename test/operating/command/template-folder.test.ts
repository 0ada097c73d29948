import assert from 'node:assert/strict';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { addKey } from '../../support/api-key.ts';
import { FeedbackShop } from '../../support/feedback-shop.ts';
import { ManagementClient } from '../../support/management-client.ts';
import { runInProcess } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const shop = await FeedbackShop.openShared();
const { url } = shop.service;
const key = await addKey(shop.database, shop.shop.id);
const api = new ManagementClient(shop.service, key);
const path = `/accounts/${shop.shop.id}/templates`;
const dir = join(temporaryFolder(), 'templates');

function template(verb: string, ...args: readonly string[]) {
  const folder = args.includes('--dir') ? [] : ['--dir', dir];
  return runInProcess(['template', verb, ...folder, '--url', url, ...args], {
    SIGNALPOST_API_KEY: key,
  });
}

const read = (file: string): string => readFileSync(join(dir, file), 'utf8');
const write = (file: string, text: string): void => writeFileSync(join(dir, file), text);

interface TemplateState {
  readonly publishedVersion: number;
  readonly latestVersion: number;
  readonly hasDraft: boolean;
}

async function stateOf(id: string): Promise<TemplateState> {
  return (await api.get(`${path}/${id}`)).body as unknown as TemplateState;
}

/** As the console does it. */
async function saveDraft(id: string, content: object): Promise<void> {
  const { status, body } = await api.put(`${path}/${id}/draft`, content);
  assert.ok(status === 200 || status === 201, JSON.stringify(body));
}

const dot =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

await saveDraft('t-0001', {
  subject: 'Your order {{Order Number}}',
  html: '<p>Hello {{First Name}}</p>\r\n<img src="cid:dot" alt="">',
  text: 'Hello {{First Name}}',
  fields: { 'First Name': { default: 'there', description: 'yes' } },
  images: [{ contentId: 'dot', content: dot }],
  sender: 'Orders@shop.test',
});
assert.equal((await api.post(`${path}/t-0001/publish`, {})).status, 200);

test('pull writes a folder for each template, and push then changes nothing', async () => {
  const pulled = await template('pull');
  assert.deepEqual([pulled.code, pulled.err], [0, '']);
  assert.match(pulled.out, /^t-0001: pulled \(version \d+\)$/m);
  assert.equal(
    read('t-0001/template.yaml'),
    `name: t-0001
subject: Your order {{Order Number}}
sender: orders@shop.test
freshnessMinutes: 15
whenUncertain: resend
fields:
  First Name:
    default: there
    description: "yes"
images:
  - contentId: dot
    filename: dot.png
    contentType: image/png
    content:
      file: images/1.png
`.replace('"yes"', 'yes'),
  );
  assert.equal(
    read('t-0001/body.html'),
    '<p>Hello {{First Name}}</p>\n<img src="cid:dot" alt="">\n',
  );
  assert.equal(read('t-0001/body.txt'), 'Hello {{First Name}}\n');
  assert.equal(readFileSync(join(dir, 't-0001/images/1.png')).toString('base64'), dot);
  const before = await stateOf('t-0001');
  const pushed = await template('push', '--publish');
  assert.equal(pushed.code, 0, pushed.err);
  assert.match(pushed.out, /^t-0001: unchanged \(version \d+\)$/m);
  assert.deepEqual(await stateOf('t-0001'), before);
  assert.equal((await template('diff', '--exit-code')).code, 0);
});

test('diff shows what push then saves as a draft and publishes as one version', async () => {
  const before = await stateOf('t-0001');
  write('t-0001/body.txt', 'Hello {{First Name}}\nSee you\u001b[2J\n');
  const diff = await template('diff', '--exit-code');
  assert.equal(diff.code, 1);
  assert.match(
    diff.out,
    /^t-0001 \(version \d+\)\n {2}t-0001\/body\.txt\n {4}Hello \{\{First Name\}\}\n {2}\+ See you\\u\{1b\}\[2J\n1 of 1 template would change\.\n$/,
  );
  assert.deepEqual(await stateOf('t-0001'), before);
  write('t-0001/body.txt', 'Hello {{First Name}}\nSee you\n');
  assert.match((await template('push')).out, /^t-0001: saved as draft$/m);
  assert.match((await template('push')).out, /^t-0001: unchanged \(draft\)$/m);
  assert.equal((await stateOf('t-0001')).publishedVersion, before.publishedVersion);
  const published = await template('push', '--publish');
  assert.equal(published.code, 0, published.err);
  const after = await stateOf('t-0001');
  assert.match(
    published.out,
    new RegExp(`^t-0001: published as version ${after.publishedVersion}$`, 'm'),
  );
  assert.equal(after.latestVersion, before.latestVersion + 1);
  assert.equal(after.hasDraft, false);
});

test('changes on the service since the last pull are overwritten only with --force', async () => {
  write('t-0001/body.txt', 'From the folder\n');
  await saveDraft('t-0001', { subject: 'From the console', text: 'Console' });
  const refused = await template('push', '--publish');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /t-0001: it was changed.*template pull.*--force/);
  assert.equal((await stateOf('t-0001')).hasDraft, true);
  const kept = await template('pull');
  assert.equal(kept.code, 1);
  assert.match(kept.err, /t-0001: the folder has changes of its own/);
  assert.equal(read('t-0001/body.txt'), 'From the folder\n');
  assert.match((await template('pull', '--force')).out, /^t-0001: pulled \(draft\)$/m);
  assert.equal(read('t-0001/body.txt'), 'Console\n');
  assert.equal(existsSync(join(dir, 't-0001/body.html')), false);
  write('t-0001/body.txt', 'Merged\n');
  assert.equal((await template('push', '--publish')).code, 0);

  await saveDraft('t-0001', { subject: 'From the console', text: 'Again' });
  assert.match(
    (await template('push', '--publish', '--force')).out,
    /^t-0001: published as version/m,
  );
});

test('pull removes the parts that a language no longer has', async () => {
  const german = { subject: 'Hallo', text: 'Hallo' };
  const languages = { subject: 'Hello', text: 'Hello', locale: 'en' };
  await saveDraft('t-0001', {
    ...languages,
    variants: { de: { ...german, html: '<p>Hallo</p>' } },
  });
  assert.equal((await template('pull', '--force')).code, 0);
  assert.ok(existsSync(join(dir, 't-0001/body.de.html')));
  await saveDraft('t-0001', { ...languages, variants: { de: german } });
  assert.equal((await template('pull')).code, 0);
  assert.equal(existsSync(join(dir, 't-0001/body.de.html')), false);
  assert.match((await template('push', '--publish')).out, /^t-0001: published as version/m);
});

test('--base lets a pipeline overwrite what an earlier state of the folder pushed', async () => {
  const base = join(temporaryFolder(), 'base');
  await cp(dir, base, { recursive: true });
  const unpulled = join(temporaryFolder(), 'next');
  await cp(dir, unpulled, { recursive: true });
  await rm(join(unpulled, '.signalpost'));
  await rm(join(base, '.signalpost'));
  writeFileSync(join(unpulled, 't-0001/body.txt'), 'Next\n');
  assert.equal((await template('push', '--publish', '--dir', unpulled)).code, 1);
  const pushed = await template('push', '--publish', '--dir', unpulled, '--base', base);
  assert.match(pushed.out, /^t-0001: published as version/m, pushed.err);
});

test('a new template is created; problems are listed by file, and nothing is pushed if there are any', async () => {
  await mkdir(join(dir, 'fresh'));
  write('fresh/template.yaml', `name: Fresh\nsubject: Hi\ncreatedBy: ${shop.shop.owner.email}\n`);
  write(
    'fresh/body.mjml',
    '<mjml><mj-body><mj-section><mj-column><mj-text>Hi</mj-text></mj-column></mj-section></mj-body></mjml>',
  );
  const created = await template('push', 'fresh', '--publish');
  assert.match(created.out, /^fresh: published as version 1$/m, created.err);

  write('fresh/template.yaml', 'name: Fresh\nsubjet: Hi\n');
  const wrong = await template('push', '--publish', '--force');
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /fresh\/template\.yaml:2: subjet is unknown/);
  assert.equal(wrong.out, '');
  assert.equal((await stateOf('fresh')).latestVersion, 1);
});

test('a template’s files are in its folder, so that a change can’t show others', async () => {
  const secret = join(temporaryFolder(), 'secret');
  writeFileSync(secret, 'PASSWORD');
  const settings = (body: string): void =>
    write('fresh/template.yaml', `name: Fresh\nsubject: Hi\n${body}`);
  await rm(join(dir, 'fresh/body.mjml'));
  symlinkSync(secret, join(dir, 'fresh/link.txt'));
  for (const body of [`text: { file: ${secret} }\n`, 'text: { file: link.txt }\n']) {
    settings(body);
    const { code, out, err } = await template('diff', 'fresh');
    assert.equal(code, 1);
    assert.match(err, /outside of the template’s folder/);
    assert.doesNotMatch(out + err, /PASSWORD/);
  }
});
