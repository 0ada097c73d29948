import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { runAdminStatement, withDatabase } from '../../scripts/scratch-database.ts';
import { type Database, openDatabase } from '../../src/base/database/open-database.ts';
import { requireMatchingKey, requireNotMoved } from '../../src/base/secrets/installation-store.ts';
import type { AccountId, TemplateId } from '../../src/base/values/ids.ts';
import { createLog } from '../../src/base/values/log.ts';
import { revealTemplateSecrets } from '../../src/content/template/template-store.ts';
import { recordCommand } from '../../src/operating/command/record-command.ts';
import {
  type MoveJob,
  type MoveProgress,
  type MoveResult,
  moveInstallation,
} from '../../src/operating/move/move-installation.ts';
import { openMoveSession } from '../../src/operating/move/move-session-store.ts';
import { beginMove, readOrigin } from '../../src/operating/move/move-source-store.ts';
import { createEmptyDatabase, MoveScene } from '../../test/support/move-scene.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { adminUrl } from '../../test/support/test-database.ts';
import { startTestService, testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const key = Buffer.alloc(32, 7).toString('base64');
const scene = new MoveScene({ SIGNALPOST_KEY: key });
const template = `template ${process.env.TEST_TEMPLATE_DATABASE} strategy file_copy`;
const log = createLog('silent');

/** Runs statements in a database, and ends the connection. */
async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({
    connectionString: url,
    options: '-c search_path=signalpost,public',
    application_name: 'test',
  });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Publishes a template with a secret field, which an owner then reveals. */
async function revealField({ pool, kysely }: Database, accountId: AccountId): Promise<void> {
  const templateId = 'revealed' as TemplateId;
  await pool.query(
    "insert into template (account_id, id, name, created_by) values ($1, $2, 'Revealed', gen_random_uuid())",
    [accountId, templateId],
  );
  await pool.query(
    `insert into template_version (account_id, template_id, version, content_hash, source, compiled, trial)
     values ($1, $2, 1, 'a', '{"fields": {"Token": {"secret": true}}}', '{}', false)`,
    [accountId, templateId],
  );
  await pool.query('update template set published_version = 1 where account_id = $1 and id = $2', [
    accountId,
    templateId,
  ]);
  await revealTemplateSecrets(kysely, { accountId, templateId }, ['Token']);
}

/** How many messages are queued. */
const queued = 40;

async function createOriginal(): Promise<string> {
  const url = await createEmptyDatabase(template);
  const database = openDatabase({ url });
  await requireMatchingKey(database, testKey);
  const shop = await openShop(database);
  await revealField(database, shop.id);
  const service = await startTestService({ databaseUrl: url, worker: false });
  const client = new SendClient(service, await getToken(service, shop));
  await Promise.all(
    Array.from({ length: queued }, async (_, index) => {
      const response = await client.send({
        body: bodyWith({ envelope: { toAddress: `person${index}@people.test` } }),
      });
      assert.equal(response.status, 200, response.text);
    }),
  );
  await service.stop();
  await database.close();
  return url;
}

/** Moves in this process, so that a test can interrupt it anywhere. */
async function moveHere(
  source: string,
  target: string,
  more: Partial<Pick<MoveJob, 'report' | 'record' | 'partBytes'>> = {},
): Promise<MoveResult> {
  const ends = [source, target].map((url) => ({
    database: openDatabase({ url }, { applicationName: 'signalpost move', maxConnections: 2 }),
    name: new URL(url).pathname,
  }));
  const [from, to] = ends;
  if (from === undefined || to === undefined) throw new Error('two databases');
  try {
    return await moveInstallation({
      source: from,
      target: to,
      log,
      sourceIsLocked: false,
      record: (transaction, kind, detail) => recordCommand(transaction, { kind, detail }),
      report: () => undefined,
      ...more,
    });
  } finally {
    for (const { database } of ends) await database.close();
  }
}

/** Interrupts a move. */
const stopAt =
  (last: MoveProgress['step']) =>
  ({ step }: MoveProgress): void => {
    if (step === last) throw new Error('stopped');
  };

async function refusal(url: string): Promise<string> {
  const database = openDatabase({ url }, { maxConnections: 1 });
  try {
    await requireNotMoved(database);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await database.close();
  }
}

const original = new URL(await createOriginal()).pathname.slice(1);

/** An installation with queued messages, which no process uses. */
function createInstallation(): Promise<string> {
  return createEmptyDatabase(`template ${original} strategy file_copy`);
}

const source = await createInstallation();
const from = { DATABASE_URL: source };

test('a target that can’t be used is refused with a sentence, and the installation is not touched', async () => {
  const admin = new URL(adminUrl());
  const poor = `poor_${Date.now()}`;
  await runAdminStatement(adminUrl(), `create role ${poor} login password 'poor'`);
  const empty = await createEmptyDatabase();
  const asPoor = new URL(empty);
  [asPoor.username, asPoor.password] = [poor, 'poor'];
  const crowded = await createEmptyDatabase(template);
  await query(crowded, 'create table signalpost.other (id integer)');
  for (const [target, message] of [
    [
      'postgres://127.0.0.1:1/none',
      /^signalpost: Can’t use the database at 127\.0\.0\.1:1\/none: .*\.\n$/,
    ],
    ['mysql://db/mail', /DATABASE_URL must look like|must look like postgres:/],
    [withDatabase(source, 'nowhere_to_be_found'), /database "nowhere_to_be_found" does not exist/],
    [source, /The installation is already in the database at localhost/],
    [await createInstallation(), /already holds an installation\. Choose an empty one/],
    [
      await createEmptyDatabase("encoding 'LATIN1' locale 'C' template template0"),
      /has the encoding LATIN1/,
    ],
    [asPoor.href, /The role poor_\d+ can’t create/],
    [crowded, /also has the table other in the schema of the installation/],
  ] as const) {
    const text = await scene.fail(['move', '--to', target], from);
    assert.match(text, message);
    assert.ok(admin.password === '' || !text.includes(admin.password));
    assert.equal(await refusal(source), '');
  }
  assert.deepEqual(
    await query(source, "select from audit_event where kind like 'installation%'"),
    [],
  );
  await query(empty, 'select 1');
  await runAdminStatement(adminUrl(), `drop role ${poor}`);
});

test('without an installation, or with both options, nothing is done', async () => {
  const empty = await createEmptyDatabase();
  const target = await createEmptyDatabase();
  assert.match(
    await scene.fail(['move', '--to', target], { DATABASE_URL: empty }),
    /There is no installation in localhost/,
  );
  assert.match(
    await scene.fail(['move', '--to', target]),
    /There is no installation in .*\/data\./,
  );
  assert.match(await scene.fail(['move'], from), /Choose either --to .* or --cancel/);
  assert.match(await scene.fail(['move', '--to', target, '--cancel'], from), /Choose either/);
});

test('while a node runs, under whatever name it connects, the move is refused; a session of someone else doesn’t matter', async () => {
  const viewer = `viewer_${Date.now()}`;
  await runAdminStatement(adminUrl(), `create role ${viewer} login password 'viewer'`);
  const asViewer = new URL(source);
  [asViewer.username, asViewer.password] = [viewer, 'viewer'];
  const watching = new pg.Client({ connectionString: asViewer.href });
  await watching.connect();
  const url = new URL(source);
  url.searchParams.set('application_name', 'mail');
  for (const databaseUrl of [source, url.href]) {
    const node = runSignalpost(['serve', '--processes', '1'], {
      ...scene.environment,
      DATABASE_URL: databaseUrl,
    });
    await node.printed(/running at/);
    const text = await scene.fail(['move', '--to', await createEmptyDatabase()], from);
    assert.match(
      text,
      /The service still uses the database at localhost.*: .*\(process \d+\)\. Stop it on every node/,
    );
    assert.equal(await refusal(source), '');
    node.child.kill('SIGTERM');
    await node.exit;
  }
  const target = await createEmptyDatabase();
  const copy = await createInstallation();
  await scene.succeed(['move', '--to', target], { DATABASE_URL: copy });
  await watching.end();
  await runAdminStatement(adminUrl(), `drop role ${viewer}`);
});

test('two moves of one installation, or into one database, don’t run at once', async () => {
  const target = await createEmptyDatabase();
  for (const url of [source, target]) {
    const other = await openMoveSession({ url });
    assert.match(
      await scene.fail(['move', '--to', target], from),
      /Another move uses the database at localhost/,
    );
    await other.end();
  }
  assert.equal(await refusal(source), '');
});

test('a move that is interrupted after any part continues, and copies nothing twice', async () => {
  const own = await createInstallation();
  const target = await createEmptyDatabase();
  let interruptions = 0;
  let result: MoveResult | undefined;
  const seen = new Set<string>();
  while (result === undefined) {
    // Each run gets a little further than the one before.
    let left = 12;
    const report = ({ step }: MoveProgress): void => {
      seen.add(step);
      left -= 1;
      // The comparison is made in one go.
      if (left === 0 && step !== 'verify') throw new Error('interrupted');
    };
    try {
      result = await moveHere(own, target, { report, partBytes: 8_192 });
    } catch (error) {
      assert.equal((error as Error).message, 'interrupted');
      interruptions += 1;
      assert.match(await refusal(own), /has been moving to/);
      assert.match(await refusal(target), /isn’t finished/);
    }
  }
  assert.ok(interruptions > 5);
  assert.deepEqual([...seen].sort(), ['continue', 'copy', 'index', 'verify', 'warning']);
  assert.ok(result.tables.every(({ same }) => same));
  const message = result.tables.find(({ table }) => table === 'message');
  assert.equal(message?.copied, queued);
  assert.match(await refusal(own), /was moved to/);
  assert.equal(await refusal(target), '');
  // Partitions, indexes and sequences are the same.
  const shape = `select c.relname, c.relkind, c.reloptions, pg_get_expr(c.relpartbound, c.oid) as bound,
      (select count(*)::int from pg_index i where i.indrelid = c.oid and indisvalid) as indexes,
      (select array_agg(a.attname || ' ' || coalesce(nullif(a.attstattarget, -1)::text, '') || a.attnotnull order by a.attname)
        from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not attisdropped) as columns
    from pg_class c where c.relnamespace = 'signalpost'::regnamespace and c.relkind in ('r', 'p', 'S') order by 1`;
  assert.deepEqual(await query(target, shape), await query(own, shape));
  const keys = `select conrelid::regclass::text as name, conname, contype, convalidated, pg_get_constraintdef(oid) as text
    from pg_constraint where connamespace = 'signalpost'::regnamespace order by 1, 2`;
  assert.deepEqual(await query(target, keys), await query(own, keys));
  const indexes = `select i.indrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as text from pg_index i join pg_class c on c.oid = i.indrelid
    where c.relnamespace = 'signalpost'::regnamespace order by 1, 2`;
  assert.deepEqual(await query(target, indexes), await query(own, indexes));
  const triggers = `select tgname, tgrelid::regclass::text as name from pg_trigger where not tgisinternal order by 1, 2`;
  const before = (await query<{ tgname: string }>(own, triggers)).filter(
    ({ tgname }) => tgname !== 'refuse_moved',
  );
  assert.deepEqual(await query(target, triggers), before);
});

test('kill -9 in the middle of a move leaves an installation that starts in neither database, until the move is continued', async () => {
  const own = await createInstallation();
  const target = await createEmptyDatabase();
  for (const count of [1, 20, 50]) {
    const running = runSignalpost(['move', '--to', target], {
      ...scene.environment,
      DATABASE_URL: own,
    });
    const reached = await Promise.race([
      running.exit,
      waitFor(`${count} tables`, async () => {
        const rows = await query<{ done: boolean }>(
          target,
          `select count(*) >= ${count} as done from installation_move_progress`,
        ).catch(() => []);
        return rows[0]?.done === true && 'reached';
      }),
    ]);
    assert.equal(reached, 'reached', running.output.stderr);
    running.child.kill('SIGKILL');
    await running.exit;
    assert.match(await scene.fail(['migrate'], { DATABASE_URL: own }), /has been moving to/);
    assert.match(
      await scene.fail(['migrate'], { DATABASE_URL: target }),
      /into this database isn’t finished/,
    );
    assert.match(
      await scene.fail(['move', '--to', await createEmptyDatabase()], { DATABASE_URL: own }),
      /Continue with that database/,
    );
  }
  const output = await scene.succeed(['move', '--to', target, '--json'], { DATABASE_URL: own });
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.ok(lines.some(({ step }) => step === 'continue'));
  assert.deepEqual(
    lines
      .filter(({ table, same }) => table === 'message' && same !== undefined)
      .map(({ rows, copied, same }) => ({ rows, copied, same })),
    [{ rows: queued, copied: queued, same: true }],
  );
  const last = lines.at(-1);
  assert.ok(last.rows > queued && last.next.length >= 4 && typeof last.moved === 'string');
  await scene.succeed(['migrate'], { DATABASE_URL: target });
});

test('between closing the source and opening the target, neither starts, and the next run opens the target', async () => {
  const own = await createInstallation();
  const target = await createEmptyDatabase();
  let moved = 0;
  const record: MoveJob['record'] = async (transaction, kind, detail) => {
    if (kind === 'installation_moved') moved += 1;
    if (moved === 2) throw new Error('killed');
    await recordCommand(transaction, { kind, detail });
  };
  await assert.rejects(moveHere(own, target, { record }), /killed/);
  assert.match(await refusal(own), /was moved to/);
  assert.match(await refusal(target), /isn’t finished/);
  await scene.succeed(['move', '--to', target], { DATABASE_URL: own });
  assert.equal(await refusal(target), '');
  assert.match(await refusal(own), /was moved to/);
});

test('a move that was killed before the target knows of it continues, but not into another database', async () => {
  const own = await createInstallation();
  const target = await createEmptyDatabase();
  const database = openDatabase({ url: own }, { maxConnections: 1 });
  const move = {
    moveId: randomUUID(),
    peer: new URL(target).pathname,
    origin: await readOrigin(database),
  };
  await beginMove(database, move, () => Promise.resolve());
  await database.close();
  await assert.rejects(
    moveHere(own, await createEmptyDatabase()),
    /is being moved to \/move_\w+\. Continue with/,
  );
  const { moveId, tables } = await moveHere(own, target);
  assert.equal(moveId, move.moveId);
  assert.ok(tables.every(({ same }) => same));
});

test('a copy that differs is an error that names the table, and the old database is used again after --cancel', async () => {
  const own = await createInstallation();
  const target = await createEmptyDatabase();
  await assert.rejects(moveHere(own, target, { report: stopAt('verify') }), /stopped/);
  await query(
    target,
    'update message set content = (content::jsonb || \'{"to":"x@y.test"}\')::json where id = (select min(id::text)::uuid from message)',
  );
  const { code, out, err } = await scene.run(['move', '--to', target], { DATABASE_URL: own });
  assert.equal(code, 1);
  assert.match(out, /^message +40 +40 +(\w+) +(?!\1)\w+ +DIFFERENT$/m);
  assert.match(
    err,
    /^signalpost: The copy at .* differs from the original in message\. Nothing was changed/,
  );
  assert.match(await refusal(own), /has been moving to/);
  assert.match(
    await scene.succeed(['move', '--cancel'], { DATABASE_URL: own }),
    /stays in localhost/,
  );
  await scene.succeed(['migrate'], { DATABASE_URL: own });
  assert.deepEqual(await query(own, "select from pg_trigger where tgname = 'refuse_moved'"), []);
  // The rest of the canceled move is replaced.
  await scene.succeed(['move', '--to', target], { DATABASE_URL: own });
});

test('the rest of another installation’s move is not touched', async () => {
  const [one, other] = [await createInstallation(), await createInstallation()];
  await query(other, "update installation set created_at = created_at + interval '1 second'");
  const target = await createEmptyDatabase();
  await assert.rejects(moveHere(one, target, { report: stopAt('copy') }), /stopped/);
  assert.match(
    await scene.fail(['move', '--to', target], { DATABASE_URL: other }),
    /holds an unfinished move of another installation/,
  );
  assert.match(
    await scene.fail(['move', '--cancel'], { DATABASE_URL: target }),
    /Run this with the settings of that database/,
  );
});

test('what is left in tables of the release before is not left behind', async () => {
  const own = await createInstallation();
  await query(
    own,
    'delete from schema_migration where version = (select max(version) from schema_migration)',
  );
  await assert.rejects(
    moveHere(own, await createEmptyDatabase()),
    /Processes of the previous release ran until a moment ago/,
  );
  assert.equal(await refusal(own), '');
});

test('a process that runs in spite of everything can neither accept, send nor follow once the move has begun', async () => {
  const own = await createInstallation();
  await assert.rejects(
    moveHere(own, await createEmptyDatabase(), { report: stopAt('copy') }),
    /stopped/,
  );
  for (const statement of [
    'update queued_delivery set lease_owner = gen_random_uuid()',
    'delete from queued_delivery',
    'update feed_cursor set rested_from = null',
    'update installation set key_fingerprint = key_fingerprint',
  ])
    await assert.rejects(query(own, statement), /this installation is being moved to \/move_/);
});

test('an installation of 0.1 leaves the schema public, where the operator’s own tables stay', async () => {
  const own = await createEmptyDatabase();
  const url = new URL(own);
  url.searchParams.set('options', '-c search_path=public');
  await scene.succeed(['migrate'], { DATABASE_URL: url.href });
  await query(own, 'create table public.mine (id integer)');
  const target = await createEmptyDatabase();
  const output = await scene.succeed(['move', '--to', target], { DATABASE_URL: own });
  assert.match(output, /Other tables stay where they are: mine\./);
  assert.deepEqual(await query(target, "select to_regclass('signalpost.message')::text as name"), [
    { name: 'message' },
  ]);
});
