import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Signalpost } from '../../packages/client/src/index.ts';
import { addKey } from '../../test/support/api-key.ts';
import { FeedbackShop } from '../../test/support/feedback-shop.ts';
import { readInbox } from '../../test/support/inbox-client.ts';
import { codeBlocks } from '../../test/support/markdown-pages.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { installTools } from '../support/tools.ts';

/** The component of docs/templates.md, in an app that has React Email. */
const folderOf = await installTools();
const shop = await FeedbackShop.open();
const key = await addKey(shop.database, shop.shop.id);
const { url } = shop.service;
const app = await mkdtemp(join(tmpdir(), 'react-app-'));
after(() => rm(app, { recursive: true }));
const file = join(app, 'emails/order.tsx');
const settings = ` sender: 'orders@shop.test', createdBy: '${shop.shop.owner.email}',`;

before(async () => {
  await mkdir(join(app, 'emails'));
  await symlink(folderOf('.'), join(app, 'node_modules'));
  const block = codeBlocks(join(import.meta.dirname, '../..'), 'docs/templates.md').find(
    ({ above }) => above === '<!-- run in test-system: react -->',
  );
  await writeFile(file, block?.text.replace('template = {', `template = {${settings}`) ?? '');
});

async function push(...args: string[]) {
  const running = runSignalpost(
    ['template', 'push', '--dir', join(app, 'compiled'), '--react', file, ...args],
    { SIGNALPOST_URL: url, SIGNALPOST_API_KEY: key },
  );
  const code = await running.exit;
  return { code, ...running.output };
}

test('a component of React Email becomes a template, its props the fields, and pushing again changes nothing', async () => {
  const { code, stderr } = await push('--publish');
  assert.equal(code, 0, stderr);
  const signalpost = new Signalpost({ url, key });
  await signalpost.send('order', {
    to: 'ada@people.test',
    data: {
      name: 'Ada <3',
      address: { city: 'Rome' },
      items: [
        { title: 'Beans', price: '24.90' },
        { title: 'Tea', price: '4.50' },
      ],
    },
  });
  const [mail] = await readInbox(url, '?to=ada@people.test&wait=30');
  assert.equal(mail?.subject, 'Your order, Ada <3');
  for (const part of [mail?.html?.replaceAll(/<!--.*?-->/g, ''), mail?.text]) {
    assert.match(part ?? '', /Hello Ada (&lt;|<)3/);
    assert.match(part ?? '', /Beans.*24\.90.*Tea.*4\.50/s);
    assert.match(part ?? '', /Rome/);
    assert.doesNotMatch(part ?? '', /\{\{/);
  }
  await assert.rejects(
    () => signalpost.send('order', { to: 'ada@people.test', data: { name: 'Ada' } }),
    /items/,
  );
  const { stdout } = await push('--publish');
  assert.doesNotMatch(stdout, /version 2/);
  assert.match(await readFile(join(app, 'compiled/order/template.yaml'), 'utf8'), /kind: list/);
});

test('a file that can’t be compiled is named', async () => {
  await writeFile(file, 'export default () => <p>;');
  const { code, stderr } = await push();
  assert.equal(code, 1);
  assert.match(stderr, /order\.tsx can’t be compiled/);
});
