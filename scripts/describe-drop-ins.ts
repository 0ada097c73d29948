import type { DropIn } from '../src/drop-in/provider/drop-in.ts';
import { markdownTable } from './markdown-table.ts';

/** The tables of docs/drop-in/PROVIDER.md: its calls, and what becomes of the members of their bodies. */
export function describeDropIn({ calls }: DropIn): Readonly<Record<'calls' | 'members', string>> {
  const callRows = calls.map(({ method, path, permission, summary }) => [
    `${method} \`${path || '/'}\``,
    `\`${permission}\``,
    summary,
  ]);
  const memberRows = calls.flatMap(({ method, path, members = {} }) =>
    Object.entries(members).flatMap(([place, table]) =>
      Object.entries(table.members).map(([name, { treatment, note }]) => [
        `${method} \`${path || '/'}\``,
        `\`${place === '' ? name : `${place}.${name}`}\``,
        treatment,
        note,
      ]),
    ),
  );
  return {
    calls: markdownTable(['call', 'scope', 'what it does'], callRows),
    members: markdownTable(['call', 'member', 'treatment', 'note'], memberRows),
  };
}
