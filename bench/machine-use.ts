import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Seconds of processor time since some start. */
interface ProcessorTimes {
  /** Of the whole machine, with what its host gave to other virtual machines while this one wanted it. */
  readonly machine: number;
  /** Of each process asked for, with its children, those that ended included. */
  readonly of: readonly number[];
}

/** Times of `/proc/PID/stat` are in hundredths of a second on every Linux that Node runs on. */
const ticks = 100;

interface Process {
  readonly parent: number;
  readonly seconds: number;
}

/**
 * Reads who has used the processors so far; undefined where the system has no `/proc`.
 * @param roots processes; each counts with all of its descendants
 */
export function readProcessorTimes(roots: readonly number[]): ProcessorTimes | undefined {
  if (process.platform !== 'linux') return undefined;
  const table = readProcesses();
  const of = roots.map((root) => {
    let seconds = 0;
    for (const [pid, { seconds: own }] of table) if (descends(table, pid, root)) seconds += own;
    return seconds;
  });
  return { machine: readMachine(), of };
}

/** proc(5), /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; guests count as user already. */
function readMachine(): number {
  const line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '';
  const times = line.split(/\s+/).slice(1, 9).map(Number);
  const waiting = (times[3] ?? 0) + (times[4] ?? 0);
  return (times.reduce((sum, time) => sum + time, 0) - waiting) / ticks;
}

function descends(table: Map<number, Process>, pid: number, root: number): boolean {
  for (let at: number | undefined = pid; at !== undefined; at = table.get(at)?.parent)
    if (at === root) return true;
  return false;
}

function readProcesses(): Map<number, Process> {
  const table = new Map<number, Process>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    try {
      // proc(5): after the name in brackets stand the state, the parent, and from the 12th on the times in ticks.
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      const seconds = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / ticks;
      table.set(pid, { parent: Number(fields[1]), seconds });
    } catch {
      // It has ended meanwhile.
    }
  }
  return table;
}

/** Resident memory of each process, in bytes, by its id; those that have ended are left out. */
export function readResident(pids: readonly number[]): Map<number, number> {
  const resident = new Map<number, number>();
  for (const pid of pids) {
    try {
      const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
      if (kib !== undefined) resident.set(pid, Number(kib) * 1024);
    } catch {
      // It has ended.
    }
  }
  return resident;
}

/** What a measurement used. */
export interface MachineUse {
  /** Seconds of the processors, by what was measured. */
  readonly service: number;
  readonly database: number;
  /** Of everything else of the benchmark: the load generator. */
  readonly load: number;
  /**
   * Share (0 to 1) of the machine's processors that went to programs that are no part of the benchmark, or that the host
   * of a virtual machine gave to others.
   */
  readonly elsewhere: number;
}

/** What came of a measurement, with what it used; that is undefined where the system does not tell. */
export interface Measured<Result> {
  readonly result: Result;
  readonly use: MachineUse | undefined;
}

const maxMeasurements = 10;

/**
 * Measures until others leave the machine alone; what they disturbed is thrown away.
 * @param calm the share (0 to 1) of the machine that they may take; undefined: the first measurement counts
 * @returns the first in which they took no more, or of ten the one in which they took least
 */
export async function measureCalm<Result>(
  calm: number | undefined,
  measure: () => Promise<Measured<Result>>,
): Promise<Measured<Result>> {
  let calmest = await measure();
  if (calm === undefined) return calmest;
  for (let made = 1; made < maxMeasurements && elsewhereShare(calmest) > calm; made += 1) {
    const again = await measure();
    if (elsewhereShare(again) < elsewhereShare(calmest)) calmest = again;
  }
  return calmest;
}

function elsewhereShare({ use }: Measured<unknown>): number {
  return use?.elsewhere ?? 0;
}

/** Runs a measurement and says what it used. */
export async function measureUse<Result>(
  pids: { readonly service: number; readonly database: number },
  measurement: () => Promise<Result>,
): Promise<Measured<Result>> {
  const roots = [pids.service, pids.database, process.pid];
  const started = performance.now();
  const before = readProcessorTimes(roots);
  const result = await measurement();
  const after = readProcessorTimes(roots);
  if (before === undefined || after === undefined) return { result, use: undefined };
  const seconds = (performance.now() - started) / 1_000;
  const [service = 0, database = 0, all = 0] = after.of.map(
    (of, root) => of - (before.of[root] ?? 0),
  );
  const elsewhere = (after.machine - before.machine - all) / (seconds * cpus().length);
  return {
    result,
    use: { service, database, load: all - service - database, elsewhere: Math.max(0, elsewhere) },
  };
}
