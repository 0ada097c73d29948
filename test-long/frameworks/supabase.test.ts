import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { createClientApp } from '../../test/support/client-app.ts';
import { FaultyProxy } from '../../test/support/faulty-proxy.ts';
import { codeBlocks } from '../../test/support/markdown-pages.ts';
import { spawnRunning } from '../../test/support/run-signalpost.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { openFrameworkShop, publishTemplates, writeFiles } from '../support/framework-shop.ts';
import { installTools } from '../support/tools.ts';
import { pressLink } from '../support/visitor.ts';

/** The function of docs/frameworks/supabase.md under Deno, and requests with the members that Supabase documents. */
const page = 'docs/frameworks/supabase.md';
const folderOf = await installTools();
// The root doesn't have the types of this package.
const { Webhook } = (await import(join(folderOf('standardwebhooks'), 'dist/index.js'))) as {
  readonly Webhook: new (secret: string) => { sign(id: string, at: Date, body: string): string };
};
const app = await createClientApp();
const { shop, env, mailTo, countTo, suppress } = await openFrameworkShop();
await publishTemplates(shop, page, ['email_change', 'password_changed_notification']);
const proxy = await FaultyProxy.start(env.SIGNALPOST_URL);
const newSecret = () => `v1,whsec_${randomBytes(32).toString('base64')}`;
const [oldSecret, secret] = [newSecret(), newSecret()];

const [file = ''] = await writeFiles(page, app.folder);
const functions = join(app.folder, 'supabase/functions');
await mkdir(join(functions, '_shared'));
await promisify(execFile)('tar', ['-xzf', app.packed, '-C', join(functions, '_shared')]);
const settings = codeBlocks(process.cwd(), page).find(({ language }) => language === 'json');
await writeFile(join(functions, 'send-email/deno.json'), settings?.text ?? '');
const { output } = spawnRunning(
  join(folderOf('deno'), 'deno'),
  ['run', '--allow-net', '--allow-env', '--no-remote', 'index.ts'],
  {
    ...env,
    HOME: app.folder,
    SIGNALPOST_URL: proxy.url,
    SUPABASE_URL: 'https://project.supabase.test',
    SEND_EMAIL_HOOK_SECRET: `${oldSecret}|${secret}`,
    DENO_SERVE_ADDRESS: 'tcp:127.0.0.1:0',
    NO_COLOR: '1',
  },
  { cwd: join(functions, 'send-email') },
);
const [url] = await waitFor('Deno', () => /http:\S+/.exec(output.stderr) ?? undefined);

/** A payload: a user, and what the email is about. */
function payload(user: object, emailData: object): string {
  const now = new Date().toISOString();
  return JSON.stringify({
    metadata: { uuid: randomUUID(), time: now, name: 'send-email', ip_address: '127.0.0.1' },
    user: {
      id: randomUUID(),
      aud: 'authenticated',
      role: 'authenticated',
      phone: '',
      app_metadata: { provider: 'email', providers: ['email'] },
      user_metadata: {},
      identities: [],
      created_at: now,
      updated_at: now,
      is_anonymous: false,
      ...user,
    },
    email_data: {
      token: '',
      token_hash: '',
      redirect_to: 'https://shop.test/home?from=mail&x=1',
      site_url: 'https://project.supabase.test/auth/v1',
      token_new: '',
      token_hash_new: '',
      old_email: '',
      old_phone: '',
      provider: '',
      factor_type: '',
      ...emailData,
    },
  });
}

/** One call of the hook, with an ID and a signature of its own as each attempt of Supabase has. */
async function call(body: string, signedWith: readonly string[] = [oldSecret, secret]) {
  const [id, at] = [randomUUID(), new Date()];
  const signatures = signedWith.map((one) =>
    new Webhook(one.slice('v1,'.length)).sign(id, at, body),
  );
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': signatures.join(', '),
    },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const magicLink = (user: object) =>
  payload(user, { email_action_type: 'magiclink', token: '305805', token_hash: 'pkce_7d5b7b1964' });

test('the function compiles under strict', async () => {
  const deno = `declare const Deno: {
    env: { get(name: string): string | undefined };
    serve(handle: (request: Request) => Promise<Response>): void;
  };`;
  await writeFile(join(app.folder, 'deno.d.ts'), deno);
  const options = ['--module', 'esnext', '--moduleResolution', 'bundler', '--types', 'node'];
  assert.equal(await app.compile([file, 'deno.d.ts'], ...options), '');
});

test('a magic link has the language of its reader, the code, and a link that leads to Supabase', async () => {
  for (const [locale, email, subject] of [
    ['de-AT', 'german@people.test', 'Anmelden'],
    [undefined, 'english@people.test', 'Sign in'],
  ] as const) {
    const { status, text } = await call(magicLink({ email, user_metadata: { locale } }));
    assert.deepEqual([status, text], [200, '{}']);
    const mail = await mailTo(email, subject);
    assert.match(mail.text ?? '', /305805/);
    const target = new URL(await pressLink(mail));
    assert.equal(target.origin + target.pathname, 'https://project.supabase.test/auth/v1/verify');
    assert.deepEqual(Object.fromEntries(target.searchParams), {
      token: 'pkce_7d5b7b1964',
      type: 'magiclink',
      redirect_to: 'https://shop.test/home?from=mail&x=1',
    });
  }
});

test('a call that is repeated after a 503 sends once', async () => {
  const email = 'again@people.test';
  const body = magicLink({ email });
  proxy.nextFault = () => 'cut after';
  const first = await call(body);
  assert.deepEqual([first.status, first.headers.get('retry-after')], [503, '1']);
  proxy.nextFault = () => 'none';
  assert.equal((await call(body)).status, 200);
  assert.equal(await countTo(email), 1);
});

test('a secure change of the address is confirmed from both, each with its own code and hash', async () => {
  const [email, new_email] = ['current@people.test', 'new@people.test'];
  const tokens = {
    email_action_type: 'email_change',
    token: '111111',
    token_hash: 'hash-for-the-new-address',
    token_new: '222222',
    token_hash_new: 'hash-for-the-current-address',
  };
  assert.equal((await call(payload({ email, new_email }, tokens))).status, 200);
  for (const [to, code, hash] of [
    [email, '111111', 'hash-for-the-current-address'],
    [new_email, '222222', 'hash-for-the-new-address'],
  ] as const) {
    const mail = await mailTo(to, 'Sign in');
    assert.match(mail.text ?? '', new RegExp(code));
    assert.equal(new URL(await pressLink(mail)).searchParams.get('token'), hash);
  }
});

test('a change of the address that the new one alone confirms goes there, and a notification has no link', async () => {
  const user = { email: 'stays@people.test', new_email: 'comes@people.test' };
  const tokens = { email_action_type: 'email_change', token: '333333', token_hash: 'only-hash' };
  assert.equal((await call(payload(user, tokens))).status, 200);
  assert.match((await mailTo(user.new_email, 'Sign in')).text ?? '', /333333/);
  assert.equal(await countTo(user.email), 0);
  const changed = { email_action_type: 'password_changed_notification' };
  assert.equal((await call(payload({ email: user.email }, changed))).status, 200);
  const { html } = await mailTo(user.email, 'Sign in');
  assert.doesNotMatch(html ?? '', /http/);
});

test('either secret of a rotation is accepted, and no other', async () => {
  const body = magicLink({ email: 'rotation@people.test' });
  for (const one of [oldSecret, secret]) assert.equal((await call(body, [one])).status, 200);
  const forged = magicLink({ email: 'forged@people.test' });
  assert.equal((await call(forged, [newSecret()])).status, 401);
  assert.equal((await call(forged, [])).status, 401);
  assert.equal(await countTo('forged@people.test'), 0);
});

test('the reason of a refusal is passed on', async () => {
  const email = 'gone@people.test';
  await suppress(email);
  const suppressed = await call(magicLink({ email }));
  assert.equal(suppressed.status, 200);
  const { error } = JSON.parse(suppressed.text);
  assert.equal(error.http_code, 400);
  assert.match(error.message, /^Recipient email has been suppressed/);
  const unknown = await call(
    payload({ email: 'ada@people.test' }, { email_action_type: 'invite' }),
  );
  assert.match(JSON.parse(unknown.text).error.message, /template/i);
});
