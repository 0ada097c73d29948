import { type BenchOptions, type BenchResult, makeResult } from '../bench-result.ts';
import { type FaultReport, measureFailover } from './measure-failover.ts';
import { findMissingPatroni } from './patroni-cluster.ts';

/** A row for each fault, and one for all messages of the run. */
export async function benchFailover(options: BenchOptions): Promise<BenchResult[]> {
  const missing = findMissingPatroni();
  if (missing !== undefined) {
    process.stderr.write(`failover skipped: ${missing}\n`);
    return [];
  }
  const { minutes, rate, asynchronous, fault: faults } = options;
  const replication = asynchronous === true ? 'asynchronous' : 'synchronous';
  const report = (row: FaultReport): void => void process.stderr.write(`${JSON.stringify(row)}\n`);
  const synchronous = asynchronous !== true;
  const measured = await measureFailover({ minutes, rate, synchronous, faults, report });
  const {
    faults: rows,
    seconds,
    accepted,
    acceptedOf: _,
    states: __,
    findings,
    ...counts
  } = measured;
  for (const finding of findings) process.stderr.write(`doctor: ${finding}\n`);
  return [
    ...rows.map((row) => toRow(row, replication)),
    makeResult(
      'failover',
      {
        ...{ fault: 'all', replication, minutes, requests_per_second: rate, faults: rows.length },
        ...{ accepted, ...counts },
      },
      { rate: accepted / seconds },
    ),
  ];
}

/** Without the times of a promotion if there was none. */
function toRow({ fault, ...times }: FaultReport, replication: string): BenchResult {
  const measured = Object.entries(times).filter(([, seconds]) => seconds !== undefined);
  return makeResult('failover', { fault, replication, ...Object.fromEntries(measured) }, {});
}
