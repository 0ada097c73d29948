import { readdirSync, readFileSync } from 'node:fs';

/** A process and all that it has started, by `/proc` (Linux); empty where it is gone. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const parent = Number.isInteger(pid) ? parentOf(pid) : undefined;
    if (parent === undefined) continue;
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)];
  return parentOf(root) === undefined ? [] : below(root);
}

/** Sends a signal to processes that may have ended already. @returns how many there still were */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): number {
  return pids.filter((pid) => {
    try {
      return process.kill(pid, signal);
    } catch {
      return false;
    }
  }).length;
}

/** The fourth field of `stat`, after the program's name, which may itself hold parentheses and spaces. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}
