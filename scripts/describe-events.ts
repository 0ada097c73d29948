import { eventKindNames, eventKinds, webhookKinds } from '../src/content/message/event-kinds.ts';
import { webhookFormats } from '../src/outcomes/webhook/webhook-formats.ts';
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

/** The table of docs/webhooks.md: what each format calls an event. */
export function describeWebhookFormats(): Readonly<Record<'formats', string>> {
  const { signalpost: _, ...formats } = webhookFormats;
  const rows = webhookKinds.map((kind) => [
    code(kind),
    ...Object.values(formats).map(({ events }) => {
      const name = events[kind]?.[0];
      return name === undefined ? '–' : code(name);
    }),
  ]);
  const head = ['kind', ...Object.keys(formats).map(code)];
  return { formats: markdownTable(head, rows) };
}

function code(text: string): string {
  return `\`${text}\``;
}
