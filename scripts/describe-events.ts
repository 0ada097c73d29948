import { eventKindNames, eventKinds } from '../src/content/message/event-kinds.ts';
import { markdownTable } from './markdown-table.ts';

/** The table of docs/reference/events.md. */
export function describeEvents(): Readonly<Record<'events', string>> {
  const rows = eventKindNames.map((kind) => {
    const { meaning, doesNotProve, state, webhook, report, suppresses } = eventKinds[kind];
    return [
      code(kind),
      meaning,
      doesNotProve,
      state === null ? '' : code(state),
      webhook === null ? '' : code(webhook),
      Object.keys(report).map(code).join(', '),
      suppresses === null ? '' : code(suppresses),
    ];
  });
  const head = [
    'event',
    'meaning',
    'doesn’t prove',
    "recipient's state",
    'webhook',
    'report',
    'suppresses as',
  ];
  return { events: markdownTable(head, rows) };
}

function code(text: string): string {
  return `\`${text}\``;
}
