import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import packageFacts from '../package.json' with { type: 'json' };
import { secretNames, settingDefinitions } from '../src/config/settings-table.ts';
import { managementPrefix } from '../src/management/management-prefix.ts';
import { openapiDocument } from '../src/management/openapi/openapi-document.ts';
import { ManifestSchema } from '../src/manifest/manifest-schema.ts';
import { readBenchmarkResults } from './benchmark-results.ts';
import { describeAccess } from './describe-access.ts';
import { describeApi } from './describe-api.ts';
import { describeBenchmarks } from './describe-benchmarks.ts';
import { describeEvents } from './describe-events.ts';
import { describeLimits } from './describe-limits.ts';
import { dumpSchema } from './dump-schema.ts';
import { plotBenchmarks } from './plot-benchmarks.ts';
import { withScratchDatabase } from './scratch-database.ts';

/**
 * Writes the files that are generated from the source, or with `--check` fails where one is not up to date.
 * Needs nothing but the repository: the database is a scratch one that is thrown away.
 */
const check = process.argv.includes('--check');
const root = new URL('../', import.meta.url);
let stale = false;

async function put(path: string, text: string): Promise<void> {
  const file = new URL(path, root);
  const before = await readFile(file, 'utf8').catch(() => '');
  if (before === text) return;
  if (check) {
    process.stderr.write(`${path} is not up to date; run: npm run generated\n`);
    stale = true;
  } else {
    await writeFile(file, text);
    process.stdout.write(`wrote ${path}\n`);
  }
}

function generateTables(url: string): string {
  const result = spawnSync(
    process.execPath,
    [
      'node_modules/kysely-codegen/dist/cli/bin.js',
      '--dialect',
      'postgres',
      '--url',
      url,
      '--print',
      '--exclude-pattern',
      'message_*_*',
    ],
    { cwd: root, encoding: 'utf8' },
  );
  if (result.status !== 0) throw new Error(result.stderr);
  // Rows are called Table after Kysely's own habit, so that `Account` is the account and `AccountTable` its row.
  return result.stdout
    .slice(result.stdout.indexOf('/**'))
    .replaceAll(/^export interface (?!DB\b)(\w+) \{/gm, 'export interface $1Table {')
    .replaceAll(/^( {2}\w+: )([A-Z]\w+);$/gm, (line, start, name) =>
      result.stdout.includes(`export interface ${name} {`) ? `${start}${name}Table;` : line,
    );
}

/** The README with its table of settings written anew between its two marks. */
async function describeSettings(): Promise<string> {
  const readme = await readFile(new URL('README.md', root), 'utf8');
  const rows = settingDefinitions.map(
    ({ name, default: value, meaning }) => `| \`${name}\` | ${value} | ${meaning} |`,
  );
  const table = ['| setting | default | meaning |', '|---|---|---|', ...rows].join('\n');
  const names = secretNames.map((name) => `\`${name}\``).join(', ');
  const files = `Each secret can come from a file: set \`NAME_FILE\` to its path instead of \`NAME\`. This works for ${names}.`;
  return readme.replace(
    /(<!-- settings:start -->\n)[\s\S]*(<!-- settings:end -->)/,
    (_all, start: string, end: string) => `${start}${table}\n\n${files}\n${end}`,
  );
}

/** A page with its tables written anew between their marks. */
async function writeTables(path: string, tables: Readonly<Record<string, string>>): Promise<void> {
  let text = await readFile(new URL(path, root), 'utf8');
  for (const [name, table] of Object.entries(tables)) {
    const marks = new RegExp(`(<!-- ${name}:start -->\\n)[\\s\\S]*(<!-- ${name}:end -->)`);
    if (!marks.test(text)) throw new Error(`${path} has no marks for the table ${name}`);
    text = text.replace(marks, (_all, start: string, end: string) => `${start}${table}\n${end}`);
  }
  await put(path, text);
}

await writeTables('docs/limits.md', describeLimits());
await writeTables('docs/authentication.md', describeAccess());
await writeTables('docs/reference/events.md', describeEvents());
const benchmarks = await readBenchmarkResults(new URL('docs/benchmarks/results.json', root));
await writeTables('docs/benchmarks.md', describeBenchmarks(benchmarks));
for (const [topic, chart] of Object.entries(plotBenchmarks(benchmarks)))
  await put(`docs/benchmarks/${topic}.svg`, chart);
await put('README.md', await describeSettings());
await put('docs/manifest.schema.json', `${JSON.stringify(ManifestSchema, null, 2)}\n`);
const openapi = JSON.stringify(openapiDocument(packageFacts.version), null, 2);
await put('docs/openapi.json', `${openapi}\n`);
await put(
  'console/src/api/management.generated.ts',
  describeApi(JSON.parse(openapi), managementPrefix),
);
await withScratchDatabase(async (database, url) => {
  await put('migrations/schema.sql', await dumpSchema(database.pool));
  await put('src/foundation/database/tables.generated.ts', generateTables(url));
});
process.exitCode = stale ? 1 : 0;
