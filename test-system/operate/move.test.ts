import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import pg from 'pg';
import { startProgramPostgres } from '../../scripts/program-postgres.ts';
import { runAdminStatement, withDatabase } from '../../scripts/scratch-database.ts';
import { startSink } from '../../test/support/mail-sink.ts';
import { createEmptyDatabase, MoveScene } from '../../test/support/move-scene.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { blockWith, runShell, substitute } from '../support/deployment.ts';

/** The page about moving, from the embedded database to Debian's PostgreSQL 15, and from there to 18. Only addresses differ. */
const page = 'docs/operate/move.md';
const postgres = await startProgramPostgres('/usr/lib/postgresql/15/bin', { likeProduction: true });
after(() => postgres.stop());
await runAdminStatement(postgres.url, "create role signalpost_service login password 'CHANGE-ME'");
await runAdminStatement(postgres.url, 'create database mail owner signalpost_service');
const on15 = new URL(withDatabase(postgres.url, 'mail'));
on15.username = 'signalpost_service';
const on18 = await createEmptyDatabase();

const sink = await startSink();
const scene = new MoveScene({ SMTP_URL: `smtp://127.0.0.1:${sink.port}` });
const { folder } = scene;
mkdirSync(join(folder, 'bin'));
symlinkSync(join(import.meta.dirname, '../../bin/signalpost'), join(folder, 'bin/signalpost'));

/** Writes the settings of the service as in /etc/signalpost.env. */
function writeSettings(more: Readonly<Record<string, string>> = {}): void {
  const lines = Object.entries({ ...scene.environment, ...more }).map(
    ([name, value]) => `${name}='${value}'`,
  );
  writeFileSync(join(folder, 'signalpost.env'), `${lines.join('\n')}\n`);
}

/** Runs a block of the page with another URL. @returns what it printed */
async function runBlock(text: string, url = on15.href): Promise<string> {
  const block = substitute(blockWith(page, text), {
    ...(text.includes('move --to') && {
      '/etc/signalpost.env': join(folder, 'signalpost.env'),
      'postgres://signalpost_service@db.example.com:5432/mail': `'${url}'`,
    }),
  });
  const load = `set -a; . ${join(folder, 'signalpost.env')}; set +a`;
  return await runShell(`${load}\n${block}`, folder);
}

async function send(url: string, to: string): Promise<string> {
  const response = await sendRequest(`${url}/ete/v1/email/1000/receipt`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scene.demoKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      envelope: { toAddress: to },
      content: { personalizationDataMap: { 'Order Number': to, Total: '24.90' } },
      metadata: { transactional: true },
      actions: { trackOpens: false, trackClicks: false },
    }),
  });
  assert.equal(response.status, 200, response.text);
  return String(response.body.messageId);
}

async function majorOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    "select current_setting('server_version_num')::int / 10000 as major",
  );
  await client.end();
  return rows[0].major;
}

test('the page’s commands move the embedded database to PostgreSQL 15, where queued mail is sent once', async () => {
  assert.equal(await majorOf(postgres.url), 15);
  const first = await scene.start();
  await scene.succeed(['queue', 'pause', '1000']);
  for (let index = 0; index < 20; index += 1) await send(first.url, `a${index}@people.test`);
  await first.stop();
  writeSettings();
  assert.match(
    await runBlock('move --to'),
    /Moved the installation from the embedded database in .* both are the same/,
  );
  writeSettings({ DATABASE_URL: on15.href });
  assert.match(
    await runShell(
      `set -a; . ${join(folder, 'signalpost.env')}; set +a\nbin/signalpost doctor || true`,
      folder,
    ),
    /ok {3}database/,
  );
  const second = await scene.start({ DATABASE_URL: on15.href });
  await scene.succeed(['queue', 'resume', '1000'], { DATABASE_URL: on15.href });
  await waitFor('the queued mail', () => sink.mails.length === 20, 60_000);
  await second.stop();
});

test('from PostgreSQL 15 to 18, everything is the same, and mail goes on', async () => {
  assert.ok((await majorOf(on18)) >= 18);
  const settings = { DATABASE_URL: on15.href };
  const before = await scene.start(settings);
  await scene.succeed(['queue', 'pause', '1000'], settings);
  for (let index = 0; index < 20; index += 1) await send(before.url, `b${index}@people.test`);
  await before.stop();
  writeSettings(settings);
  const output = await runBlock('move --to', on18);
  assert.match(output, /^message +40 +40 +(\w{16}) +\1 +same$/m);
  assert.match(await scene.fail(['start'], settings), /This installation was moved to localhost/);
  const next = await scene.start({ DATABASE_URL: on18 });
  await scene.succeed(['queue', 'resume', '1000'], { DATABASE_URL: on18 });
  await send(next.url, 'last@people.test');
  await waitFor('all mail', () => sink.mails.length === 41, 60_000);
  await next.stop();
  assert.equal(new Set(sink.mails.map(({ to }) => to[0])).size, 41);
});

test('the page’s command goes back to the old database on purpose', async () => {
  writeSettings({ DATABASE_URL: on15.href });
  assert.match(await runBlock('move --cancel --yes'), /The installation stays in localhost/);
  const back = await scene.start({ DATABASE_URL: on15.href });
  await back.stop();
});
