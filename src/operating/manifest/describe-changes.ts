import type { ChangeAction, ManifestChange } from './manifest-change.ts';
import type { ManifestProblem } from './manifest-problems.ts';

const actions: readonly ChangeAction[] = ['created', 'changed', 'unchanged', 'removed'];

/** One line per change, then a summary. */
export function describeChanges(changes: readonly ManifestChange[], dryRun: boolean): string {
  const width = Math.max(11, ...changes.map(({ kind }) => kind.length));
  const lines = changes.map((change) => {
    const { action, kind, account, id, notes } = change;
    const name = kind === 'account' ? id : `${account} ${id}`;
    const end = notes.length === 0 ? '' : `  (${notes.join('; ')})`;
    return `${action.padEnd(9)}  ${kind.padEnd(width)}  ${name}${end}\n`;
  });
  const sums = actions.map(
    (action) => `${changes.filter((change) => change.action === action).length} ${action}`,
  );
  const sum = sums.join(', ');
  lines.push(dryRun ? `Dry run, nothing changed. Would be: ${sum}.\n` : `Done: ${sum}.\n`);
  return lines.join('');
}

/** One line per problem in compiler style: file, line, path, problem. */
export function describeProblems(name: string, problems: readonly ManifestProblem[]): string {
  const lines = problems.map(({ path, line, message }) => {
    const where = line === undefined ? name : `${name}:${line}`;
    return `${where}: ${path === '' ? message : `${path} ${message}`}\n`;
  });
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return `${lines.join('')}${count}; nothing changed.\n`;
}
