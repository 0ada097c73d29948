import type { CaseSummary } from './benchmark-results.ts';
import { readCosts } from './cost-model.ts';
import { formatStorage } from './format-storage.ts';
import { markdownTable } from './markdown-table.ts';
import { type CapacityPlan, defaultAssumptions, planCapacity } from './plan-capacity.ts';

const mebibyte = 1_048_576;
const memory = { process: 240 * mebibyte, minDatabase: 1_024 * mebibyte };
const messagesPerDay = [1e4, 1e6, 1e7, 1e8, 1e9];

/** The table of docs/operate/sizing.md, computed from the topic `capacity` of the results. */
export function describeSizing(summaries: readonly CaseSummary[]): Record<string, string> {
  const costs = readCosts(summaries);
  const head = [
    'messages a day',
    'peak a second',
    'service cores',
    'database cores',
    'service memory',
    'database memory',
    `disk for ${defaultAssumptions.retentionDays} days`,
    'WAL a day',
    'databases',
  ];
  const rows = messagesPerDay.map((count) => rowOf(count, planCapacity(count, costs)));
  return { sizing: markdownTable(head, rows) };
}

function rowOf(count: number, plan: CapacityPlan): string[] {
  const { peak, databases, serviceCores, databaseCores, keptPerDay } = plan;
  return [
    count.toLocaleString('en-US'),
    peak < 10 ? peak.toFixed(1) : Math.round(peak).toLocaleString('en-US'),
    formatCores(serviceCores),
    formatCores(databaseCores),
    formatStorage(Math.max(1, Math.ceil(serviceCores)) * memory.process),
    formatStorage(Math.max(memory.minDatabase, keptPerDay / databases)),
    formatStorage(plan.disk),
    formatStorage(plan.logPerDay),
    String(databases),
  ];
}

function formatCores(cores: number): string {
  return cores < 1 ? 'less than 1' : String(Math.ceil(cores));
}
