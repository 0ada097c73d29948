import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { waitFor } from '../../test/support/wait-for.ts';

/** What the processes of a group may use together, as a container's limits. */
export interface GroupLimits {
  readonly memoryBytes?: number;
  /** Share of one core: 0.5 is half of one. */
  readonly cores?: number;
}

type Controller = 'memory' | 'cpu';

const periodMicroseconds = 100_000;
const root = '/sys/fs/cgroup';
/** The second version has one hierarchy for all controllers. */
const isUnified = existsSync(join(root, 'cgroup.controllers'));

/**
 * A control group, the kernel's part of a container: a process that exceeds its memory is killed, and one that exceeds its
 * processor time waits. Only root may create one. It is removed at the end of the
 * file, when the tests have stopped what they started in it.
 */
export class ControlGroup {
  readonly #folders: ReadonlyMap<Controller, string>;

  private constructor(folders: ReadonlyMap<Controller, string>) {
    this.#folders = folders;
  }

  /** @returns undefined if this system doesn't let this process create one */
  static open(name: string, { memoryBytes, cores }: GroupLimits): ControlGroup | undefined {
    const folders = new Map<Controller, string>();
    const wanted: [Controller, number | undefined][] = [
      ['memory', memoryBytes],
      ['cpu', cores],
    ];
    try {
      for (const [controller, limit] of wanted)
        if (limit !== undefined) folders.set(controller, createFolder(controller, name));
      const group = new ControlGroup(folders);
      after(() => waitFor('the processes of the group to end', () => group.#remove()));
      if (memoryBytes !== undefined)
        group.#write(
          'memory',
          isUnified ? 'memory.max' : 'memory.limit_in_bytes',
          String(memoryBytes),
        );
      if (cores !== undefined) {
        const quota = Math.round(cores * periodMicroseconds);
        if (isUnified) group.#write('cpu', 'cpu.max', `${quota} ${periodMicroseconds}`);
        else group.#write('cpu', 'cpu.cfs_quota_us', String(quota));
      }
      return group;
    } catch {
      return undefined;
    }
  }

  /** The command that runs another one, and all that it starts, in this group. */
  command(program: string, args: readonly string[]): [program: string, args: string[]] {
    const join = [...new Set(this.#folders.values())]
      .map((folder) => `echo $$ > ${folder}/cgroup.procs`)
      .join(' && ');
    return ['sh', ['-c', `${join} && exec "$@"`, 'sh', program, ...args]];
  }

  /** The highest use of memory so far, in bytes, with files that the kernel keeps while there is space. */
  get peakBytes(): number {
    return Number(this.#read('memory', isUnified ? 'memory.peak' : 'memory.max_usage_in_bytes'));
  }

  /** How many processes were killed because the group's memory was used up. */
  get kills(): number {
    const text = this.#read('memory', isUnified ? 'memory.events' : 'memory.oom_control');
    return Number(/^oom_kill (\d+)$/m.exec(text)?.[1]);
  }

  /** How often the group had to wait because its processor time was used up. */
  get throttles(): number {
    return Number(/^nr_throttled (\d+)$/m.exec(this.#read('cpu', 'cpu.stat'))?.[1]);
  }

  #read(controller: Controller, file: string): string {
    return readFileSync(join(this.#folders.get(controller) ?? '', file), 'utf8');
  }

  #write(controller: Controller, file: string, text: string): void {
    writeFileSync(join(this.#folders.get(controller) ?? '', file), text);
  }

  /** @returns false while processes are in it */
  #remove(): boolean {
    try {
      for (const folder of new Set(this.#folders.values()))
        if (existsSync(folder)) rmdirSync(folder);
      return true;
    } catch {
      return false;
    }
  }
}

function createFolder(controller: Controller, name: string): string {
  const parent = isUnified ? root : join(root, controller);
  if (isUnified) writeFileSync(join(parent, 'cgroup.subtree_control'), `+${controller}`);
  const folder = join(parent, `signalpost-${name}-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}
