import { writeFile } from 'node:fs/promises';
import { Argument, Command, Option } from 'commander';
import { benchAccept, benchAcceptCases } from './bench-accept.ts';
import {
  benchAcceptHistory,
  benchApiKey,
  benchBatch,
  benchIdleConnections,
} from './bench-accept-beside.ts';
import { benchAttachments } from './bench-attachments.ts';
import { benchCapacity, benchCapacityNodes } from './bench-capacity.ts';
import { benchClient } from './bench-client.ts';
import { benchBacklog, benchDeliver, benchHistory } from './bench-deliver.ts';
import { benchDropIn } from './bench-drop-in.ts';
import { benchImport } from './bench-import.ts';
import { benchLatency, benchMemory, benchTogether } from './bench-latency.ts';
import { benchMove } from './bench-move.ts';
import { type BenchOptions, type BenchResult, formatTable } from './bench-result.ts';
import { benchStart } from './bench-start.ts';
import { benchToken } from './bench-token.ts';
import { benchFailover } from './failover/bench-failover.ts';
import { failoverFaultNames } from './failover/failover-faults.ts';
import { benchJourney } from './feedback/bench-journey.ts';
import { benchLists, benchReports, benchSearch } from './feedback/bench-reading.ts';
import { benchRedirect, benchRollUp } from './feedback/bench-tracking.ts';
import { benchHostile } from './hostile/bench-hostile.ts';
import { benchSubmission } from './submission/bench-submission.ts';

const benchmarks: Readonly<Record<string, (options: BenchOptions) => Promise<BenchResult[]>>> = {
  accept: benchAccept,
  'accept-cases': benchAcceptCases,
  'accept-history': benchAcceptHistory,
  attachments: benchAttachments,
  batch: benchBatch,
  capacity: benchCapacity,
  'capacity-nodes': benchCapacityNodes,
  client: benchClient,
  'idle-connections': benchIdleConnections,
  deliver: benchDeliver,
  'deliver-backlog': benchBacklog,
  'deliver-history': benchHistory,
  latency: benchLatency,
  together: benchTogether,
  memory: benchMemory,
  move: benchMove,
  'start-up': benchStart,
  submission: benchSubmission,
  token: benchToken,
  key: benchApiKey,
  'drop-in': benchDropIn,
  lists: benchLists,
  import: benchImport,
  reports: benchReports,
  search: benchSearch,
  rollup: benchRollUp,
  redirect: benchRedirect,
  journey: benchJourney,
  hostile: benchHostile,
  failover: benchFailover,
};

const program = new Command('npm run bench --')
  .addArgument(new Argument('[names...]', 'default: all').choices(Object.keys(benchmarks)))
  .option('--seconds <n>', 'length of each measurement', Number, 8)
  .option('--rounds <n>', 'how often the two sides take turns', Number, 3)
  .option(
    '--calm <percent>',
    'repeat runs in which others take more of the machine',
    (percent) => Number(percent) / 100,
  )
  .option('--json <file>', 'write the results to a file')
  .option('--cpu-prof <dir>', 'write a processor profile of the measured process')
  .option('--minutes <n>', 'length of memory and failover', Number, 10)
  .option('--queued <n>', 'messages in the queue of deliver-backlog', Number, 1_000_000)
  .option('--messages <n>', 'messages that journey sends', Number, 200_000)
  .option('--history <n>', 'finished messages in the database', Number)
  .option('--history-folder <dir>', 'folder of that database')
  .option(
    '--attack <name>',
    'row of hostile or submission; can be repeated',
    (name, earlier: readonly string[] = []) => [...earlier, name],
  )
  .option('--rate <n>', 'requests a second of failover', Number, 25)
  .option('--asynchronous', 'asynchronous replication in failover')
  .addOption(
    new Option('--fault <name...>', 'faults of failover, in turn').choices(failoverFaultNames),
  )
  .parse();
const { json, cpuProf, ...options } = program.opts<
  BenchOptions & { readonly json?: string; readonly cpuProf?: string }
>();
const nodeOptions = cpuProf === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProf}`];
const names = program.args.length === 0 ? Object.keys(benchmarks) : program.args;
const results: BenchResult[] = [];
for (const name of names)
  results.push(...((await benchmarks[name]?.({ ...options, nodeOptions })) ?? []));
process.stdout.write(`${formatTable(results)}\n`);
if (json !== undefined) await writeFile(json, `${JSON.stringify(results, null, 2)}\n`);
