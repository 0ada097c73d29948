import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { migrate } from '../src/base/database/migrate.ts';
import { openDatabase } from '../src/base/database/open-database.ts';
import { startProgramPostgres } from './program-postgres.ts';

/**
 * Prepares every recorded statement on another PostgreSQL, which proves that it knows their syntax, functions and types.
 * Usage: npm run statements:check -- FOLDER, where a run of the tests with TEST_STATEMENTS=FOLDER has recorded them; TEST_POSTGRES_BIN
 * is the folder of the server's programs. Statements that can't be prepared (DDL, LISTEN, transaction control, several in
 * one) are left to the tests that run on that server.
 */
const [folder = ''] = process.argv.slice(2);
const preparable = /^\s*(select|insert|update|delete|with|values|merge)\b/i;
const several = /;\s*\S/;
const statements = await readStatements(folder);
// They exist only in the session that created them.
const temporary = statements.flatMap((text) =>
  [...text.matchAll(/create temp(?:orary)? table (?:if not exists )?(\w+)/gi)].map(
    ([, name = '']) => name,
  ),
);
// The test of the upgrade fills it, and migrations drop it.
const droppedSchema = /\bgraphile_worker\./;
/** Tables of accounts' own databases, which tests create; those of `test/outbox` run on that server, too. */
const ofCustomer =
  /\b(?:from|join|into|update) (?:"[^"]+"\.)?"?(?:email_outbox|outbox(?!_source\b))/i;
const ofOneSession = new RegExp(
  `\\bpg_temp\\b|\\btest_|\\b(from|join|into|update) (${['pg_temp', ...temporary].join('|')})\\b`,
  'i',
);
const prepared = statements.filter(
  (text) =>
    preparable.test(text) &&
    !several.test(text) &&
    !ofOneSession.test(text) &&
    !droppedSchema.test(text) &&
    !ofCustomer.test(text),
);
const postgres = await startProgramPostgres(process.env.TEST_POSTGRES_BIN ?? '');
const failures: string[] = [];
try {
  const database = openDatabase({ url: postgres.serviceUrl });
  await migrate(database);
  const client = await database.pool.connect();
  for (const text of prepared) {
    await client.query(`prepare recorded as ${text}`).then(
      () => client.query('deallocate recorded'),
      (error: Error) => failures.push(`${error.message}\n${text}`),
    );
  }
  client.release();
  await database.close();
} finally {
  await postgres.stop();
}
if (failures.length > 0) {
  process.stderr.write(`${failures.join('\n\n')}\n`);
  process.exitCode = 1;
}
process.stdout.write(
  `${prepared.length} of ${statements.length} statements prepared, ${failures.length} refused\n`,
);
// Without recorded statements, the check would prove nothing.
if (prepared.length < 500) process.exitCode = 1;

async function readStatements(from: string): Promise<string[]> {
  const files = (await readdir(from)).filter((name) => name.endsWith('.jsonl'));
  const texts = await Promise.all(files.map((name) => readFile(join(from, name), 'utf8')));
  const lines = texts.flatMap((text) => text.split('\n').filter((line) => line !== ''));
  return [...new Set(lines)].map((line) => JSON.parse(line) as string);
}
