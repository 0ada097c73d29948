import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import packageJson from '../package.json' with { type: 'json' };
import { serviceSchema } from '../src/base/database/service-schema.ts';
import { dropIns } from '../src/drop-in/drop-ins.ts';
import { managementPrefix } from '../src/operating/management/management-limits.ts';
import { openapiDocument } from '../src/operating/management/openapi/openapi-document.ts';
import { ManifestSchema } from '../src/operating/manifest/manifest-schema.ts';
import { readBenchmarkResults } from './benchmark-results.ts';
import { describeAccess } from './describe-access.ts';
import { describeApi } from './describe-api.ts';
import { describeBenchmarks, describeFailovers } from './describe-benchmarks.ts';
import { describeCommands } from './describe-commands.ts';
import { describeDropIn } from './describe-drop-ins.ts';
import { describeErrors } from './describe-errors.ts';
import { describeEvents, describeWebhookFormats } from './describe-events.ts';
import { describeLimits } from './describe-limits.ts';
import { describeMetrics, writeAlertRules, writeDashboard } from './describe-metrics.ts';
import { describePackages } from './describe-packages.ts';
import { describeScale } from './describe-scale.ts';
import { describeSettings } from './describe-settings.ts';
import { describeSizing } from './describe-sizing.ts';
import { describeSubmission } from './describe-submission.ts';
import { dumpSchema } from './dump-schema.ts';
import { plotBenchmarks } from './plot-benchmarks.ts';
import { withScratchDatabase } from './scratch-database.ts';

/**
 * Writes the files generated from the source, or with `--check` fails if one is out of date. Uses a temporary database.
 */
const check = process.argv.includes('--check');
const root = new URL('../', import.meta.url);
let stale = false;

async function writeGenerated(path: string, text: string): Promise<void> {
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
      '--include-pattern',
      `${serviceSchema}.*`,
      '--default-schema',
      serviceSchema,
      '--exclude-pattern',
      'message_*_*',
    ],
    { cwd: root, encoding: 'utf8' },
  );
  if (result.status !== 0) throw new Error(result.stderr);
  // Row types get the suffix Table, so `Account` can be the domain type and `AccountTable` its row.
  return result.stdout
    .slice(result.stdout.indexOf('/**'))
    .replaceAll(/^export interface (?!DB\b)(\w+) \{/gm, 'export interface $1Table {')
    .replaceAll(/^( {2}\w+: )([A-Z]\w+);$/gm, (line, start, name) =>
      result.stdout.includes(`export interface ${name} {`) ? `${start}${name}Table;` : line,
    );
}

/** Replaces the generated tables of a page between their markers. */
async function writeTables(path: string, tables: Readonly<Record<string, string>>): Promise<void> {
  let text = await readFile(new URL(path, root), 'utf8');
  for (const [name, table] of Object.entries(tables)) {
    const markers = new RegExp(`(<!-- ${name}:start -->\\n)[\\s\\S]*(<!-- ${name}:end -->)`);
    if (!markers.test(text)) throw new Error(`${path} has no markers for the table ${name}`);
    text = text.replace(markers, (_all, start: string, end: string) => `${start}${table}\n${end}`);
  }
  await writeGenerated(path, text);
}

const { common, settings, secrets } = describeSettings();
await writeTables('README.md', { common });
await writeTables('docs/reference/settings.md', { settings, secrets });
await writeTables('docs/reference/cli.md', { commands: await describeCommands() });
await writeTables('docs/reference/errors.md', describeErrors());
await writeTables('docs/smtp.md', describeSubmission());
await writeTables('docs/reference/events.md', describeEvents());
for (const dropIn of Object.values(dropIns))
  await writeTables(`docs/drop-in/${dropIn.name}.md`, describeDropIn(dropIn));
await writeTables('docs/webhooks.md', describeWebhookFormats());
await writeTables('docs/reference/limits.md', describeLimits());
await writeTables('docs/reference/packages.md', await describePackages());
await writeTables('docs/operate/monitor.md', describeMetrics());
await writeGenerated('ops/alerts.yaml', writeAlertRules());
await writeGenerated('ops/grafana/signalpost.json', writeDashboard());
await writeTables('docs/how-it-works/authentication.md', describeAccess());
const benchmarks = await readBenchmarkResults(new URL('docs/benchmarks/results.json', root));
await writeTables('docs/benchmarks.md', describeBenchmarks(benchmarks));
await writeTables('docs/operate/high-availability.md', describeFailovers(benchmarks));
await writeTables('docs/operate/sizing.md', describeSizing(benchmarks));
await writeTables('docs/how-it-works/scale.md', describeScale(benchmarks));
for (const [topic, chart] of Object.entries(plotBenchmarks(benchmarks)))
  await writeGenerated(`docs/benchmarks/${topic}.svg`, chart);
await writeGenerated('docs/manifest.schema.json', `${JSON.stringify(ManifestSchema, null, 2)}\n`);
const openapi = JSON.stringify(openapiDocument(packageJson.version), null, 2);
await writeGenerated('docs/openapi.json', `${openapi}\n`);
await writeGenerated(
  'console/src/api/management.generated.ts',
  describeApi(JSON.parse(openapi), managementPrefix),
);
await writeGenerated('packages/client/src/api.generated.ts', describeApi(JSON.parse(openapi), ''));
await withScratchDatabase(async (database, url) => {
  await writeGenerated('migrations/schema.sql', await dumpSchema(database.pool));
  await writeGenerated('src/base/database/tables.generated.ts', generateTables(url));
});
process.exitCode = stale ? 1 : 0;
