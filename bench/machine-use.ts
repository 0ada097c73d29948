import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { median } from './bench-result.ts';

/** Linux reports processor time in hundredths of a second. */
const ticksPerSecond = 100;

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly zombie: boolean;
  /** Processor time, with that of children that ended. */
  readonly seconds: number;
}

/** A process and its descendants that run; the process comes first. Empty if it has ended. */
export function processTree(root: number): number[] {
  const [first, ...below] = findBranch(readProcesses(), root);
  if (first === undefined || first.zombie) return [];
  return [first, ...below.filter(({ zombie }) => !zombie)].map(({ pid }) => pid);
}

/** Skips processes that have ended. @returns how many received the signal */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): number {
  return pids.filter((pid) => {
    try {
      return process.kill(pid, signal);
    } catch {
      return false;
    }
  }).length;
}

/** Resident MiB by process id. */
export function readResident(pids: readonly number[]): Map<number, number> {
  return new Map(
    pids.flatMap((pid): [number, number][] => {
      const kib = /^VmRSS:\s+(\d+) kB/m.exec(readProc(`${pid}/status`) ?? '')?.[1];
      return kib === undefined ? [] : [[pid, Number(kib) / 1_024]];
    }),
  );
}

export interface MachineUse {
  /** Processor seconds. */
  readonly service: number;
  readonly database: number;
  /** Of the rest of the benchmark: the load generator. */
  readonly load: number;
  /** Share (0 to 1) of the machine used by other programs or other virtual machines of the host. */
  readonly elsewhere: number;
}

export interface MeasuredPids {
  /** Of each node. */
  readonly service: number | readonly number[];
  readonly database: number;
}

/** The use is 0 on systems without `/proc`. */
export async function measureUse<Result>(
  pids: MeasuredPids,
  measure: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly use: MachineUse }> {
  const nodes = [pids.service].flat();
  const roots = [process.pid, pids.database, ...nodes];
  const started = performance.now();
  const before = readCpuSeconds(roots);
  const result = await measure();
  const used = readCpuSeconds(roots).map((seconds, index) => seconds - (before[index] ?? 0));
  const [machine = 0, all = 0, database = 0, ...ofNodes] = used;
  const service = sum(ofNodes);
  const available = ((performance.now() - started) / 1_000) * cpus().length;
  const elsewhere = Math.max(0, (machine - all) / available);
  return { result, use: { service, database, load: all - service - database, elsewhere } };
}

/** The fields of a result with the resources of each of `count` requests. */
export function usePerRequest(use: MachineUse, count: number) {
  const each = (seconds: number) => Math.round((seconds * 1e6) / count);
  return {
    service_us: each(use.service),
    database_us: each(use.database),
    load_us: each(use.load),
    elsewhere_percent: Math.round(use.elsewhere * 100),
  };
}

/** Of the whole machine, then of each root with its descendants. */
function readCpuSeconds(roots: readonly number[]): number[] {
  if (process.platform !== 'linux') return [];
  // proc(5): user, nice, system, idle, iowait, irq, softirq, steal. Time stolen by the host counts as used.
  const [line = ''] = (readProc('stat') ?? '').split('\n', 1);
  const ticks = line.split(/\s+/).slice(1, 9).map(Number);
  const machine = (sum(ticks) - (ticks[3] ?? 0) - (ticks[4] ?? 0)) / ticksPerSecond;
  const all = readProcesses();
  const secondsOf = (root: number) => sum(findBranch(all, root).map(({ seconds }) => seconds));
  return [machine, ...roots.map(secondsOf)];
}

/** A process, first, and all below it. */
function findBranch(all: readonly ProcessStat[], root: number): ProcessStat[] {
  const below = all.filter(({ parent }) => parent === root);
  return [
    ...all.filter(({ pid }) => pid === root),
    ...below.flatMap(({ pid }) => findBranch(all, pid)),
  ];
}

function readProcesses(): ProcessStat[] {
  return readdirSync('/proc').flatMap((name) => {
    const text = /^\d+$/.test(name) ? readProc(`${name}/stat`) : undefined;
    if (text === undefined) return [];
    // proc(5): the name in parentheses, which may contain both, then the state, the parent and, 9 fields on, four times.
    const [state, parent, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = sum(fields.slice(9, 13).map(Number));
    const pid = Number(name);
    return { pid, parent: Number(parent), zombie: state === 'Z', seconds: ticks / ticksPerSecond };
  });
}

/** @returns undefined if the process has ended */
function readProc(file: string): string | undefined {
  try {
    return readFileSync(`/proc/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

const sampleIntervalMs = 250;

/** Samples the resident memory of a program's processes, in MiB. */
export class MemoryWatch {
  readonly #pid: number;
  readonly #timer: NodeJS.Timeout;
  #samples: Map<number, number>[] = [];

  constructor({ pid }: { readonly pid: number }) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#sample(), sampleIntervalMs);
  }

  /** Median and peak of all processes together since the last call, in whole MiB. */
  readAndReset(): { readonly median: number; readonly peak: number } {
    this.#sample();
    const samples = this.#samples.map((sizes) => sum([...sizes.values()]));
    this.#samples = [];
    return { median: Math.round(median(samples)), peak: Math.round(Math.max(...samples)) };
  }

  /** The samples of each process. */
  byProcess(): number[][] {
    const sizes = this.#samples.flatMap((sample) => [...sample]);
    return [...Map.groupBy(sizes, ([pid]) => pid).values()].map((own) =>
      own.map(([, size]) => size),
    );
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    this.#samples.push(readResident(processTree(this.#pid)));
  }
}
