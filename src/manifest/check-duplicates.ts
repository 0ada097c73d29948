import type { Manifest, ManifestAccount, ManifestUser } from './manifest.ts';
import { formatPath, type ManifestPath } from './manifest-path.ts';
import type { ProblemCollector } from './manifest-problems.ts';

/** Reports duplicate resources and contradictory data about a person. */
export function checkDuplicates(manifest: Manifest, problems: ProblemCollector): void {
  const duplicates = new DuplicateChecker(problems);
  for (const account of manifest.accounts) {
    duplicates.add('account', account.id, [...account.path, 'id']);
    for (const { clientId, path } of account.integrations)
      duplicates.add('integration', clientId, [...path, 'clientId']);
    checkAccount(account, problems);
  }
  checkPeople(
    manifest.accounts.flatMap((account) => account.users),
    problems,
  );
}

function checkAccount(account: ManifestAccount, problems: ProblemCollector): void {
  const duplicates = new DuplicateChecker(problems);
  for (const { email, path } of account.users) duplicates.add('user', email, [...path, 'email']);
  for (const { address, path } of account.senders)
    duplicates.add('sender', address, [...path, 'address']);
  for (const { id, path } of account.templates) duplicates.add('template', id, [...path, 'id']);
  for (const { id, path } of account.lists) duplicates.add('list', id, [...path, 'id']);
}

class DuplicateChecker {
  readonly #seen = new Map<string, ManifestPath>();
  readonly #problems: ProblemCollector;

  constructor(problems: ProblemCollector) {
    this.#problems = problems;
  }

  add(kind: string, id: string, path: ManifestPath): void {
    const key = `${kind} ${id}`;
    const before = this.#seen.get(key);
    if (before === undefined) this.#seen.set(key, path);
    else this.#problems.add(path, `duplicates ${formatPath(before)}`);
  }
}

/** People are global: several accounts can list a person, but only with the same name and password. */
function checkPeople(users: readonly ManifestUser[], problems: ProblemCollector): void {
  for (const member of ['name', 'password', 'operator'] as const) {
    const first = new Map<string, ManifestUser>();
    for (const user of users) {
      if (user[member] === undefined) continue;
      const before = first.get(user.email);
      if (before === undefined) first.set(user.email, user);
      else if (before[member] !== user[member]) {
        const where = formatPath([...before.path, member]);
        problems.add([...user.path, member], `differs from ${where} for the same person`);
      }
    }
  }
}
