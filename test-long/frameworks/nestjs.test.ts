import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClientApp } from '../../test/support/client-app.ts';
import { FaultyProxy } from '../../test/support/faulty-proxy.ts';
import { spawnRunning } from '../../test/support/run-signalpost.ts';
import { openFrameworkShop, writeFiles } from '../support/framework-shop.ts';
import { installTools } from '../support/tools.ts';

/** The module of docs/frameworks/nestjs.md, in an application that NestJS starts. */
const folderOf = await installTools();
const own = ['@nestjs/common', '@nestjs/core', '@nestjs-modules/mailer', 'reflect-metadata'];
const app = await createClientApp({
  ...Object.fromEntries(own.map((name) => [name, folderOf(name)])),
  '@types/nodemailer': join(process.cwd(), 'node_modules/@types/nodemailer'),
});
const { shop, env, mailTo, countTo, suppress } = await openFrameworkShop();
await shop.publish('receipt', '<p>{{Order Number}}</p>');
const proxy = await FaultyProxy.start(env.SIGNALPOST_URL);

const files = await writeFiles('docs/frameworks/nestjs.md', app.folder);
await writeFile(
  join(app.folder, 'main.ts'),
  `
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { MailModule } from './mail.module.js';
import { Receipts } from './receipts.js';

const app = await NestFactory.createApplicationContext(MailModule);
for (const email of process.argv.slice(2))
  await app.get(Receipts).send({ number: 'A-1001 of ' + email, email });
await app.close();
`,
);
const options = ['--module', 'nodenext', '--types', 'node', '--skipLibCheck', '--noEmit', 'false'];
const decorators = ['--experimentalDecorators', '--emitDecoratorMetadata'];
const complaints = await app.compile([...files, 'main.ts'], ...options, ...decorators);

/** Runs the application, which sends to each address. */
async function run(environment: object, ...addresses: string[]) {
  const settings = { ...env, SIGNALPOST_URL: proxy.url, NO_COLOR: '1', ...environment };
  const { exit, output } = spawnRunning(process.execPath, ['main.js', ...addresses], settings, {
    cwd: app.folder,
  });
  return { code: await exit, text: output.stdout + output.stderr };
}

test('the code compiles under strict', () => {
  assert.equal(complaints, '');
});

test('a mail of NestJS whose response is lost arrives once', async () => {
  const to = 'ada@people.test';
  // The check at startup is a request, too.
  proxy.nextFault = () => (proxy.requests < 3 ? 'cut after' : 'none');
  const { code, text } = await run({}, to, to);
  assert.equal(code, 0, text);
  assert.match(text, /Transporter is ready/);
  assert.match((await mailTo(to, 'News')).text ?? '', /A-1001/);
  assert.equal(await countTo(to), 1);
});

test('a suppressed address is a warning in the log, and a wrong key an error at startup', async () => {
  await suppress('gone@people.test');
  const suppressed = await run({}, 'gone@people.test');
  assert.equal(suppressed.code, 0);
  assert.match(
    suppressed.text,
    /WARN.*No receipt for order A-1001 of .*: Recipient email has been supp/s,
  );
  const unknown = env.SIGNALPOST_API_KEY.replace(/.{4}$/, '0000');
  const wrong = await run({ SIGNALPOST_API_KEY: unknown });
  assert.match(wrong.text, /ERROR.*verifying the transporter: Unauthorized/s);
});
