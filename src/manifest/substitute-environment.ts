import type { ManifestPath } from './manifest-path.ts';
import type { ProblemCollector } from './manifest-problems.ts';

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Matches `$${`, then a complete reference, then an incomplete one. */
const reference = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g;

/**
 * Replaces `${NAME}` with the environment variable in every string of a parsed manifest, except member names; `$${` is
 * a literal `${`. An unset or empty variable is a problem.
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
      problems.add(path, 'contains an invalid ${ reference; write $${ for a literal ${');
      return whole;
    }
    const found = environment[name];
    if (found !== undefined && found !== '') return found;
    problems.add(path, `requires the environment variable ${name}, which isn’t set`);
    return whole;
  });
}
