import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClientApp } from '../../test/support/client-app.ts';
import { spawnRunning } from '../../test/support/run-signalpost.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { openFrameworkShop, publishTemplates, writeFiles } from '../support/framework-shop.ts';
import { installTools } from '../support/tools.ts';
import { pressLink, Visitor } from '../support/visitor.ts';

/** One app with the code of docs/frameworks/nextjs.md and docs/frameworks/authjs.md, built for production. */
const folderOf = await installTools();
const own = ['next', 'next-auth', '@auth/pg-adapter', 'pg', 'react', 'react-dom'];
const links = [...own, 'typescript', '@types/react'].map((name) => [name, folderOf(name)]);
const app = await createClientApp(Object.fromEntries(links));
const { shop, env, mailTo, countTo, suppress } = await openFrameworkShop();
await shop.publish('receipt', '<p>{{Order Number}}</p>');
await publishTemplates(shop, 'docs/frameworks/README.md');
for (const page of ['nextjs', 'authjs']) await writeFiles(`docs/frameworks/${page}.md`, app.folder);
await writeFile(
  join(app.folder, 'app/layout.tsx'),
  'export default ({ children }) => <html><body>{children}</body></html>;',
);

/** The tables that Auth.js documents for its adapter, in a schema of their own. */
await shop.database.pool.query(`
  create schema authjs;
  create table authjs.verification_token (identifier text, expires timestamptz, token text, primary key (identifier, token));
  create table authjs.users (id serial primary key, name text, email text, "emailVerified" timestamptz, image text);
  create table authjs.accounts (id serial primary key, "userId" int, type text, provider text, "providerAccountId" text);
  create table authjs.sessions (id serial primary key, "userId" int, expires timestamptz, "sessionToken" text)`);
const databaseUrl = new URL(shop.databaseUrl);
databaseUrl.searchParams.set('options', '-c search_path=authjs');

/** Runs a command of Next.js in the app. */
function next(...args: string[]) {
  const program = join(folderOf('next'), 'dist/bin/next');
  const settings = {
    ...env,
    DATABASE_URL: databaseUrl.href,
    AUTH_SECRET: 'a secret of the tests that is long enough',
    AUTH_TRUST_HOST: 'true',
    NEXT_TELEMETRY_DISABLED: '1',
  };
  return spawnRunning(process.execPath, [program, ...args], settings, { cwd: app.folder });
}

// The packages are linked into the app, and webpack follows links. It checks the types, too.
const built = next('build', '--webpack');
assert.equal(await built.exit, 0, built.output.stdout + built.output.stderr);
const { output, printed } = next('start', '--port', '0', '--hostname', 'localhost');
const [base] = await printed(/http:\/\/localhost:\d+/);

/** Submits the form of the page as a browser without scripts does. @returns what the page says then */
async function submit(email: string, number = 'A-1001'): Promise<string> {
  const visitor = new Visitor(base);
  const { text } = await visitor.go('/');
  const form = new FormData();
  for (const [, name = '', value = ''] of text.matchAll(
    /<input type="hidden" name="([^"]*)"(?: value="([^"]*)")?/g,
  ))
    form.set(name, value.replaceAll('&quot;', '"'));
  form.set('email', email);
  form.set('number', number);
  const answer = await visitor.go('/', form);
  assert.equal(answer.status, 200, answer.text);
  return /<p role="status">([^<]*)/.exec(answer.text)?.[1] ?? answer.text;
}

test('a form of Next.js sends through its server action, once however often it is submitted', async () => {
  for (const _ of [1, 2])
    assert.equal(await submit('ada@people.test'), 'We have sent you a receipt.');
  assert.match((await mailTo('ada@people.test', 'News')).text ?? '', /A-1001/);
  assert.equal(await countTo('ada@people.test'), 1);
});

test('the form shows why an email can’t be sent', async () => {
  await suppress('gone@people.test');
  assert.equal(await submit('gone@people.test', 'A-1002'), 'We can’t send email to this address.');
  assert.equal(await submit('no address', 'A-1003'), 'Check your email address.');
});

/** Asks Auth.js for a sign-in link. */
async function askForLink(visitor: Visitor, email: string): Promise<URL> {
  const { csrfToken } = JSON.parse((await visitor.go('/api/auth/csrf')).text);
  const form = new URLSearchParams({ csrfToken, email, callbackUrl: `${base}/` });
  const { status, location, text } = await visitor.go('/api/auth/signin/signalpost', form);
  assert.equal(status, 302, text);
  return new URL(location, base);
}

test('a link of Auth.js signs in once, after a scanner had the mail', async () => {
  const [visitor, email] = [new Visitor(base), 'ben@people.test'];
  assert.equal((await askForLink(visitor, email)).pathname, '/api/auth/verify-request');
  const target = await pressLink(await mailTo(email, 'Sign in'));
  assert.ok(target.startsWith(`${base}/api/auth/callback/signalpost?`), target);
  assert.equal(new URL((await visitor.go(target)).location, base).href, `${base}/`);
  assert.equal(JSON.parse((await visitor.go('/api/auth/session')).text).user.email, email);
  assert.match((await new Visitor(base).go(target)).location, /error=Verification/);
});

test('a refused link leads to the error page of Auth.js, and the log has the reason', async () => {
  await suppress('eve@people.test');
  const { pathname, searchParams } = await askForLink(new Visitor(base), 'eve@people.test');
  assert.deepEqual([pathname, searchParams.get('error')], ['/api/auth/error', 'Configuration']);
  await waitFor('the reason', () => /SuppressedError.*suppressed/s.test(output.stderr));
});
