import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { codeBlocks } from '../../test/support/markdown-pages.ts';
import { spawnRunning } from '../../test/support/run-signalpost.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import { openFrameworkShop, writeFiles } from '../support/framework-shop.ts';
import { Visitor } from '../support/visitor.ts';

/** Debian's WordPress on MariaDB, with the plugin and the settings of docs/frameworks/wordpress.md. */
const page = 'docs/frameworks/wordpress.md';
const run = promisify(execFile);
const folder = temporaryFolder();
const { env, ca, mailTo, suppress } = await openFrameworkShop();

const [data, socket] = [join(folder, 'data'), join(folder, 'mariadb')];
await run('mariadb-install-db', [
  `--datadir=${data}`,
  '--auth-root-authentication-method=normal',
  '--user=root',
  '--skip-test-db',
]);
spawnRunning(
  'mariadbd',
  ['--no-defaults', `--datadir=${data}`, `--socket=${socket}`, '--skip-networking', '--user=root'],
  {},
);
const sql = (text: string) =>
  run('mariadb', ['--no-defaults', '-u', 'root', `--socket=${socket}`, '-e', text]);
await waitFor('MariaDB', () => sql('create database wordpress').catch(() => undefined));

const site = join(folder, 'site');
const base = `http://127.0.0.1:${await freePort()}`;
await cp('/usr/share/wordpress', site, { recursive: true, verbatimSymlinks: true });
await writeFiles(page, site);
const [block] = codeBlocks(process.cwd(), page);
const own = (block?.text ?? '')
  .replace('mail.example.com', env.SMTP_HOST)
  .replace('587', env.SMTP_PORT)
  .replace("'1000'", `'${env.SMTP_USER}'`)
  .replace('sp_1000_…', env.SMTP_PASSWORD);
const settings = join(site, 'wp-config.php');
const config = `<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:${socket}');
define('WP_HOME', '${base}');
define('WP_SITEURL', '${base}');
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true);
$table_prefix = 'wp_';
${own}
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
`;
await writeFile(settings, config);
const { output } = spawnRunning(
  'php',
  ['-d', `openssl.cafile=${ca}`, '-d', 'opcache.enable=0', '-S', new URL(base).host, '-t', site],
  {},
);
await waitFor('PHP', () => /Development Server .*started/.test(output.stderr));

const [user, address] = ['ada', 'ada@people.test'];
const askForPassword = async () =>
  await new Visitor(base).go(
    '/wp-login.php?action=lostpassword',
    new URLSearchParams({ user_login: user }),
  );

test('a new site of WordPress sends its first email, and its password emails', async () => {
  const form = new URLSearchParams({
    weblog_title: 'Café',
    user_name: user,
    admin_password: 'the first password',
    admin_password2: 'the first password',
    pw_weak: '1',
    admin_email: address,
    blog_public: '0',
  });
  const installed = await new Visitor(base).go('/wp-admin/install.php?step=2', form);
  assert.equal(installed.status, 200, installed.text + output.stderr);
  const first = await mailTo(address, 'New WordPress Site');
  assert.deepEqual(first.headers.from, ['Demo Shop <orders@shop.test>']);
  assert.ok(first.headers['list-unsubscribe']);
  assert.ok(first.text?.includes(base), first.source);

  const asked = await askForPassword();
  assert.match(asked.location, /checkemail=confirm/, asked.text + output.stderr);
  const reset = await mailTo(address, '[Café] Password Reset');
  assert.equal(reset.headers['list-unsubscribe'], undefined);
  const [link = ''] = /http\S+action=rp\S+/.exec(reset.text ?? '') ?? [];
  const visitor = new Visitor(base);
  const { location } = await visitor.go(link);
  assert.match((await visitor.go(location)).text, /name="pass1"/);
});

test('WordPress says that an email failed, and its log has the reason that the page explains', async () => {
  const reasons = [
    [env.SMTP_PASSWORD, 'sp_wrong', 'Could not authenticate'],
    ['orders@shop.test', 'new@shop.test', 'Sender not allowed'],
    [env.SMTP_PORT, '1', 'Could not connect'],
  ] as const;
  for (const [right, wrong, reason] of reasons) {
    await writeFile(settings, config.replace(right, wrong));
    assert.match((await askForPassword()).text, /The email could not be sent/);
    await waitFor(reason, () => new RegExp(`wp_mail: SMTP.*${reason}`).test(output.stderr));
  }
  await writeFile(settings, config);
  await suppress(address);
  assert.match((await askForPassword()).text, /The email could not be sent/);
  await waitFor('the reason', () => /wp_mail: SMTP.*Recipient suppressed/.test(output.stderr));
});
