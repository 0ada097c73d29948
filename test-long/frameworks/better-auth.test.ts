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

/** The code of docs/frameworks/better-auth.md, whose app is an OpenID provider, too. */
const folderOf = await installTools();
const app = await createClientApp({ 'better-auth': folderOf('better-auth') });
const { shop, env, mailTo, suppress } = await openFrameworkShop();
await publishTemplates(shop, 'docs/frameworks/README.md');
await writeFiles('docs/frameworks/better-auth.md', app.folder);
await writeFile(
  join(app.folder, 'serve.ts'),
  `
import { createServer } from 'node:http';
import { betterAuth } from 'better-auth';
import { toNodeHandler } from 'better-auth/node';
import { oidcProvider } from 'better-auth/plugins';
import { auth } from './auth.ts';

const server = createServer().listen(0, '127.0.0.1', () => {
  const baseURL = 'http://127.0.0.1:' + server.address().port;
  const redirects = [baseURL + '/app'];
  const client = {
    clientId: 'app',
    clientSecret: 'secret of the app',
    name: 'App',
    type: 'web',
    redirectUrls: redirects,
    redirectURLs: redirects,
    metadata: null,
    disabled: false,
    skipConsent: true,
  };
  const provider = oidcProvider({ loginPage: '/login', trustedClients: [client] });
  const plugins = [...auth.options.plugins, provider];
  const secret = 'a secret of the tests that is long enough';
  const telemetry = { enabled: false };
  const handler = toNodeHandler(betterAuth({ ...auth.options, baseURL, secret, telemetry, plugins }));
  server.on('request', handler);
  console.log(baseURL);
});
`,
);
const { printed, output } = spawnRunning(process.execPath, ['serve.ts'], env, { cwd: app.folder });
const [base] = await printed(/http:\S+/);

test('the code compiles under strict', async () => {
  const options = ['--module', 'esnext', '--moduleResolution', 'bundler', '--types', 'node'];
  assert.equal(await app.compile(['auth.ts'], ...options, '--skipLibCheck'), '');
});

test('a magic link of Better Auth signs in once, after a scanner had the mail', async () => {
  const visitor = new Visitor(base);
  const email = 'ada@people.test';
  const asked = await visitor.go('/api/auth/sign-in/magic-link', { email, callbackURL: '/home' });
  assert.equal(asked.status, 200, asked.text);
  const target = await pressLink(await mailTo(email, 'Sign in'));
  assert.ok(target.startsWith(`${base}/api/auth/magic-link/verify?token=`), target);
  const verified = await visitor.go(target);
  assert.equal(verified.status, 302, verified.text);
  assert.equal(new URL(verified.location, base).href, `${base}/home`);
  const session = JSON.parse((await visitor.go('/api/auth/get-session')).text);
  assert.equal(session.user.email, email);
  assert.match((await new Visitor(base).go(target)).location, /error=/);
});

test('a new address is confirmed, and a password reset of an OpenID provider works, after scanners had the mails', async () => {
  const account = { email: 'bob@people.test', password: 'the forgotten password' };
  const created = await new Visitor(base).go('/api/auth/sign-up/email', {
    ...account,
    name: 'Bob',
  });
  assert.equal(created.status, 200, created.text);
  const confirmation = await pressLink(await mailTo(account.email, 'Confirm your address'));
  const confirmed = await new Visitor(base).go(confirmation);
  assert.equal(confirmed.status, 302, confirmed.text);
  assert.doesNotMatch(confirmed.location, /error=/);

  const visitor = new Visitor(base);
  const query = new URLSearchParams({
    client_id: 'app',
    response_type: 'code',
    redirect_uri: `${base}/app`,
    scope: 'openid',
    state: 'of-the-app',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  const authorize = `/api/auth/oauth2/authorize?${query}`;
  const before = await visitor.go(authorize);
  assert.equal(new URL(before.location, base).pathname, '/login');
  const asked = await visitor.go('/api/auth/request-password-reset', {
    email: account.email,
    redirectTo: `${base}/reset`,
  });
  assert.equal(asked.status, 200, asked.text);
  const target = await pressLink(await mailTo(account.email, 'Choose a new password'));
  const page = new URL((await visitor.go(target)).location, base);
  assert.equal(page.pathname, '/reset');
  const token = page.searchParams.get('token');
  const password = 'the new password of Bob';
  const reset = await visitor.go('/api/auth/reset-password', { newPassword: password, token });
  assert.equal(reset.status, 200, reset.text);

  const signIn = (given: string) =>
    visitor.go('/api/auth/sign-in/email', { email: account.email, password: given });
  assert.equal((await signIn(account.password)).status, 401);
  const signedIn = await signIn(password);
  assert.ok(signedIn.status < 400, signedIn.text);
  assert.equal(
    JSON.parse((await visitor.go('/api/auth/get-session')).text).user.emailVerified,
    true,
  );
  const back = new URL((await visitor.go(authorize)).location, base);
  assert.equal(back.pathname, '/app');
  assert.equal(back.searchParams.get('state'), 'of-the-app');
  assert.ok(back.searchParams.get('code'));
});

test('a refused sign-in link is an error of the call, a refused confirmation only of the log', async () => {
  const [email, other] = ['eve@people.test', 'mallory@people.test'];
  for (const address of [email, other]) await suppress(address);
  const refused = await new Visitor(base).go('/api/auth/sign-in/magic-link', { email });
  assert.equal(refused.status, 500);
  await waitFor('the error', () => /SuppressedError.*suppressed/.test(output.stderr));
  const account = { email: other, name: 'Mallory', password: 'a password of Mallory' };
  const created = await new Visitor(base).go('/api/auth/sign-up/email', account);
  assert.equal(created.status, 200, created.text);
  const logged = /Failed to run background task.*SuppressedError.*suppressed/;
  await waitFor('the error of the confirmation', () => logged.test(output.stderr));
});
