import type { CaseSummary } from './benchmark-results.ts';
import { costAt, type MeasuredCosts, readCosts, readFigure } from './cost-model.ts';
import { formatStorage } from './format-storage.ts';
import { markdownTable } from './markdown-table.ts';
import { type CapacityPlan, planCapacity } from './plan-capacity.ts';

/** The tables of docs/how-it-works/scale.md, computed from the topic `capacity` of the results. */
export function describeScale(summaries: readonly CaseSummary[]): Record<string, string> {
  const costs = readCosts(summaries);
  return {
    billion: describePlan(planCapacity(1e9, costs)),
    checked: checkAgainstRuns(summaries, costs),
  };
}

/** The machines of a plan and their resources, as Markdown. */
export function describePlan(plan: CapacityPlan): string {
  const whole = (value: number) => Math.ceil(value).toLocaleString('en-US');
  const machines = [
    ['peak', `${whole(plan.peak)} messages/s`],
    ['nodes', `${whole(plan.nodes)}, with ${whole(plan.serviceCores)} cores in total`],
    ['databases', `${whole(plan.databases)}, with ${whole(plan.databaseCores)} cores in total`],
    ['write-ahead log', `${formatStorage(plan.logPerDay)} a day`],
    ['disk', formatStorage(plan.disk)],
  ];
  const resources = plan.resources.map(({ name, maxRate, used, waitMs }) => [
    name,
    `${whole(maxRate)}/s`,
    `${Math.round(used * 100)}%`,
    `${waitMs < 0.1 ? 'less than 0.1' : waitMs.toFixed(1)} ms`,
  ]);
  return [
    markdownTable(['', 'needed'], machines),
    '',
    markdownTable(
      ['resource, in the order they run out', 'max', 'used at the peak', 'mean wait'],
      resources,
    ),
  ].join('\n');
}

/** The model's predictions for loads that it wasn't fitted to, beside the measurements. */
function checkAgainstRuns(summaries: readonly CaseSummary[], costs: MeasuredCosts): string {
  const find = (name: string, key: string) => readFigure(summaries, name, key);
  const between = '400 a second, 200 accounts';
  const predicted = costAt(400, costs);
  const cores = 2;
  const burst = '200 accounts, burst';
  const used = ['service_us', 'database_us', 'load_us'].map((key) => find(burst, key));
  const rows: [what: string, predicted: number, measured: number, unit: string][] = [
    ['service at 400/s', predicted.serviceMicroseconds, find(between, 'service_us'), 'µs'],
    ['database at 400/s', predicted.databaseMicroseconds, find(between, 'database_us'), 'µs'],
    [
      'max on two cores, from acceptance to the last follower',
      (cores * 1e6) / used.reduce((sum, value) => sum + value, 0),
      find(burst, 'through_per_second'),
      'messages/s',
    ],
  ];
  return markdownTable(
    ['', 'model', 'run', 'difference'],
    rows.map(([what, model, run, unit]) => [
      what,
      `${Math.round(model).toLocaleString('en-US')} ${unit}`,
      `${Math.round(run).toLocaleString('en-US')} ${unit}`,
      `${Math.round((model / run - 1) * 100)}%`,
    ]),
  );
}
