import { errorCatalogue } from '../src/http/error-catalogue.ts';
import { problemCatalogue } from '../src/management/answer/problem.ts';

/** The tables of docs/reference/errors.md: what the send operation and the management API refuse. */
export function describeErrors(): Readonly<Record<'faults' | 'problems', string>> {
  const faults = Object.entries(errorCatalogue).map(
    ([name, { status, message }]) => `| ${status} | \`${name}\` | ${message} |`,
  );
  const problems = Object.entries(problemCatalogue).map(
    ([name, { status, title }]) => `| ${status} | \`${name}\` | ${title} |`,
  );
  return {
    faults: ['| status | `errorName` | `message` |', '| --- | --- | --- |', ...faults].join('\n'),
    problems: ['| status | name | `title` |', '| --- | --- | --- |', ...problems].join('\n'),
  };
}
