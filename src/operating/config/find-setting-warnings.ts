import { secretNames, settings } from './settings-table.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const allNames: ReadonlySet<string> = new Set([
  ...Object.keys(settings),
  ...secretNames.map((name) => `${name}_FILE`),
]);

/** Warnings about variables that look like settings but have no effect, with what to do instead. */
export function findSettingWarnings(environment: Environment): string[] {
  const set = (name: string) => (environment[name]?.trim() ?? '') !== '';
  return Object.keys(environment)
    .filter((name) => set(name) && !allNames.has(name))
    .flatMap((name) => {
      const meant = findMeantName(name);
      // If the setting itself is set, the variable belongs to another program.
      return meant === undefined || set(meant)
        ? []
        : [`${name} isn’t a setting and has no effect. Did you mean ${meant}?`];
    });
}

/** The setting that a misspelled variable most likely means. */
function findMeantName(variable: string): string | undefined {
  const given = variable.toUpperCase();
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const name of allNames) {
    // A short name is a few letters away from many others.
    const most = name.length < 6 ? -1 : name.length < 10 ? 1 : 2;
    const distance = Math.abs(name.length - given.length) > most ? 99 : editDistance(given, name);
    if (distance > most || distance >= bestDistance) continue;
    best = name;
    bestDistance = distance;
  }
  return best;
}

/** Number of insertions, deletions, replacements and swaps of neighbors that turn one text into the other. */
function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, index) => index)];
  for (let at = 1; at <= from.length; at++) {
    const row = [at];
    for (let place = 1; place <= to.length; place++) {
      const same = from[at - 1] === to[place - 1];
      const swapped = at > 1 && from[at - 1] === to[place - 2] && from[at - 2] === to[place - 1];
      row.push(
        Math.min(
          (rows[at - 1]?.[place] ?? 0) + 1,
          (row[place - 1] ?? 0) + 1,
          (rows[at - 1]?.[place - 1] ?? 0) + (same ? 0 : 1),
          swapped ? (rows[at - 2]?.[place - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    rows.push(row);
  }
  return rows[from.length]?.[to.length] ?? 0;
}
