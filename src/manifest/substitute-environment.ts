import type { ManifestPath } from './manifest-path.ts';
import type { ProblemCollector } from './manifest-problems.ts';

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** `$${` first, then a whole reference, then anything that only begins like one. */
const reference = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g;

/**
 * Puts the values of environment variables in place of `${NAME}` in every string of a parsed manifest; `$${` stands
 * for the characters `${`. Names of members are left alone. A variable that is not set, or empty, is a problem.
 */
export function substituteEnvironment(
  value: unknown,
  environment: EnvironmentVariables,
  problems: ProblemCollector,
  path: ManifestPath = [],
): unknown {
  if (typeof value === 'string') return substituteIn(value, environment, problems, path);
  if (Array.isArray(value)) {
    return value.map((entry, index) =>
      substituteEnvironment(entry, environment, problems, [...path, index]),
    );
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        substituteEnvironment(member, environment, problems, [...path, name]),
      ]),
    );
  }
  return value;
}

function substituteIn(
  text: string,
  environment: EnvironmentVariables,
  problems: ProblemCollector,
  path: ManifestPath,
): string {
  return text.replace(reference, (whole, name: string | undefined) => {
    if (whole === '$${') return '${';
    if (name === undefined) {
      problems.add(path, 'has a ${ that names no environment variable; write $${ for ${ itself');
      return whole;
    }
    const found = environment[name];
    if (found !== undefined && found !== '') return found;
    problems.add(path, `needs the environment variable ${name}, which is not set`);
    return whole;
  });
}
