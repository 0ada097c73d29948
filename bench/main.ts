import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { benchAccept, benchAcceptCases } from './bench-accept.ts';
import { benchAcceptHistory } from './bench-accept-history.ts';
import { benchApiKey } from './bench-api-key.ts';
import { benchBacklog } from './bench-backlog.ts';
import { benchBatch } from './bench-batch.ts';
import { benchDeliver } from './bench-deliver.ts';
import { benchHistory } from './bench-history.ts';
import { benchIdleConnections } from './bench-idle-connections.ts';
import { benchImport } from './bench-import.ts';
import { benchLatency, benchTogether } from './bench-latency.ts';
import { benchLists } from './bench-lists.ts';
import { benchMemory } from './bench-memory.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { formatTable } from './bench-result.ts';
import { benchStart } from './bench-start.ts';
import { benchToken } from './bench-token.ts';
import { benchJourney } from './feedback/bench-journey.ts';
import { benchReports, benchSearch } from './feedback/bench-reading.ts';
import { benchRedirect } from './feedback/bench-redirect.ts';
import { benchRollUp } from './feedback/bench-roll-up.ts';
import { benchHostile } from './hostile/bench-hostile.ts';

/** `npm run bench -- NAME… --json FILE`: measures, prints a table, and writes the numbers to the file. */
const benchmarks: Readonly<Record<string, (options: BenchOptions) => Promise<BenchResult[]>>> = {
  accept: benchAccept,
  'accept-cases': benchAcceptCases,
  'accept-history': benchAcceptHistory,
  batch: benchBatch,
  'idle-connections': benchIdleConnections,
  deliver: benchDeliver,
  'deliver-backlog': benchBacklog,
  'deliver-history': benchHistory,
  latency: benchLatency,
  together: benchTogether,
  memory: benchMemory,
  'start-up': benchStart,
  token: benchToken,
  key: benchApiKey,
  lists: benchLists,
  import: benchImport,
  reports: benchReports,
  search: benchSearch,
  rollup: benchRollUp,
  redirect: benchRedirect,
  journey: benchJourney,
  hostile: benchHostile,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    calm: { type: 'string' },
    queued: { type: 'string', default: '1000000' },
    minutes: { type: 'string', default: '10' },
    'cpu-prof': { type: 'string' },
    history: { type: 'string' },
    'history-folder': { type: 'string' },
    messages: { type: 'string', default: '200000' },
    attack: { type: 'string', multiple: true },
  },
});

const profile = values['cpu-prof'];
const options: BenchOptions = {
  seconds: Number(values.seconds),
  rounds: Number(values.rounds),
  calm: values.calm === undefined ? undefined : Number(values.calm) / 100,
  queued: Number(values.queued),
  minutes: Number(values.minutes),
  nodeOptions: profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
  history: values.history === undefined ? undefined : Number(values.history),
  historyFolder: values['history-folder'],
  messages: Number(values.messages),
  attacks: values.attack,
};
const names = positionals.length === 0 ? Object.keys(benchmarks) : positionals;
const results: BenchResult[] = [];
for (const name of names) {
  const run = benchmarks[name];
  if (run === undefined) {
    process.stderr.write(
      `there is no benchmark "${name}"; there are: ${Object.keys(benchmarks).join(', ')}\n`,
    );
    process.exit(1);
  }
  results.push(...(await run(options)));
}
process.stdout.write(`${formatTable(results)}\n`);
if (values.json !== undefined)
  await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
