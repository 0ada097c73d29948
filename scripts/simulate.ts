import { Command } from 'commander';
import { readBenchmarkResults } from './benchmark-results.ts';
import { readCosts } from './cost-model.ts';
import { describePlan } from './describe-scale.ts';
import { defaultAssumptions, planCapacity } from './plan-capacity.ts';

/** Shows the machines for a number of messages a day, and which of their resources is used up first. */
const program = new Command('npm run simulate --')
  .option('--messages-per-day <n>', 'messages of an average day', Number, 1e9)
  .option(
    '--peak-factor <n>',
    'peak hour compared with the average',
    Number,
    defaultAssumptions.peakFactor,
  )
  .option('--node-cores <n>', 'cores of a node', Number, defaultAssumptions.nodeCores)
  .option(
    '--database-cores <n>',
    'max cores of a database',
    Number,
    defaultAssumptions.maxDatabaseCores,
  )
  .option(
    '--log-megabytes <n>',
    'write-ahead log a database can write a second',
    Number,
    defaultAssumptions.maxLogMegabytes,
  )
  .option('--days <n>', 'days that messages are kept', Number, defaultAssumptions.retentionDays)
  .parse();
const options = program.opts<{
  messagesPerDay: number;
  peakFactor: number;
  nodeCores: number;
  databaseCores: number;
  logMegabytes: number;
  days: number;
}>();
for (const [name, value] of Object.entries(options))
  if (!(value > 0 && Number.isFinite(value)))
    program.error(`${name} must be a number above 0, for example 1e9`);
const results = await readBenchmarkResults(
  new URL('../docs/benchmarks/results.json', import.meta.url),
);
const plan = planCapacity(options.messagesPerDay, readCosts(results), {
  ...defaultAssumptions,
  peakFactor: options.peakFactor,
  nodeCores: options.nodeCores,
  maxDatabaseCores: options.databaseCores,
  maxLogMegabytes: options.logMegabytes,
  retentionDays: options.days,
});
process.stdout.write(`${describePlan(plan)}\n`);
