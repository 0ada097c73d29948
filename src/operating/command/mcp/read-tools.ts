import { Type } from 'typebox';
import { Flag, Whole } from '../../../base/values/common-schemas.ts';
import type { ManagementConnection } from '../../../content/template-types/management-connection.ts';
import { type AgentTool, defineTool, textInput, toQueryText } from './tool.ts';

const limit = Type.Optional(Whole('Max items.', { minimum: 1, maximum: 50, default: 20 }));
const cursor = Type.Optional(textInput(2_000, 'The `nextCursor` of the previous page.'));
const time = textInput(64, 'A time or date (ISO 8601); a date means midnight UTC.');
const templateId = textInput(64, 'The ID of a template.', 1);

const states = [
  'queued',
  'sending',
  'deferred',
  'delivered',
  'bounced',
  'expired',
  'failed',
  'uncertain',
  'suppressed',
  'canceled',
] as const;

async function get(connection: ManagementConnection, path: string): Promise<unknown> {
  return (await connection.call('GET', path)).body;
}

interface MessageAnswer {
  readonly events: readonly { readonly detail: unknown }[];
  readonly content: unknown;
}

/** What explains a message: neither its values, which are personal, nor whole SMTP sessions. */
function withoutContent({ content: _, events, ...message }: MessageAnswer): object {
  return {
    ...message,
    events: events.map(({ detail, ...event }) => ({ ...event, detail: withoutTranscript(detail) })),
  };
}

function withoutTranscript(detail: unknown): unknown {
  if (typeof detail !== 'object' || detail === null) return detail;
  return Object.fromEntries(Object.entries(detail).filter(([name]) => name !== 'transcript'));
}

interface DomainAnswer {
  readonly domain: string;
  readonly state: string;
  readonly records: readonly { readonly state: string }[];
}

const maxDomains = 20;

/** Tools that change nothing. */
export const readTools: readonly AgentTool[] = [
  defineTool({
    name: 'find_messages',
    permissions: ['messages:read'],
    description:
      'Find sent messages, newest first. Pages can be short; go on until `nextCursor` is null.',
    input: Type.Object({
      recipient: Type.Optional(textInput(320, 'An address, or a part of it.')),
      state: Type.Optional(Type.Enum(states, { type: 'string' })),
      waiting: Type.Optional(Flag('Only messages that haven’t ended.')),
      templateId: Type.Optional(templateId),
      tag: Type.Optional(textInput(48)),
      externalId: Type.Optional(textInput(128, 'The application’s own identifier.')),
      from: Type.Optional(time),
      until: Type.Optional(time),
      limit,
      cursor,
    }),
    run: (connection, input) => get(connection, `/messages?${toQueryText(input)}`),
  }),
  defineTool({
    name: 'explain_message',
    permissions: ['messages:read'],
    description:
      'Why a message has or hasn’t arrived: the state of each recipient with an explanation and a next step, all events with the replies of receiving servers, and the next attempt.',
    input: Type.Object({ messageId: textInput(64, undefined, 1) }),
    run: async (connection, { messageId }) =>
      withoutContent(
        (await get(connection, `/messages/${encodeURIComponent(messageId)}`)) as MessageAnswer,
      ),
  }),
  defineTool({
    name: 'list_templates',
    permissions: ['templates:read'],
    description: 'List templates with their subject and published version.',
    input: Type.Object({ contains: Type.Optional(textInput(200)), limit, cursor }),
    run: (connection, input) => get(connection, `/templates?${toQueryText(input)}`),
  }),
  defineTool({
    name: 'get_template',
    permissions: ['templates:read'],
    description:
      'The content and the fields of a template’s published version, and whether it has a draft.',
    input: Type.Object({ templateId }),
    run: async (connection, input) => {
      const path = `/templates/${encodeURIComponent(input.templateId)}`;
      const template = (await get(connection, path)) as {
        readonly publishedVersion: number | null;
      };
      const { publishedVersion: version } = template;
      const published =
        version === null ? null : await get(connection, `${path}/versions/${version}`);
      return { ...template, published };
    },
  }),
  defineTool({
    name: 'get_report',
    permissions: ['reports:read'],
    description:
      'Count accepted, delivered, bounced, opened and clicked messages of a period, in groups.',
    input: Type.Object({
      from: time,
      until: time,
      group: Type.Optional(
        Type.Enum(['none', 'hour', 'day', 'template', 'locale', 'tag', 'sender', 'destination'], {
          type: 'string',
          default: 'none',
        }),
      ),
      templateId: Type.Optional(templateId),
      tag: Type.Optional(textInput(48)),
      timeZone: Type.Optional(textInput(64, 'Of days and hours, such as Europe/Berlin.')),
    }),
    run: (connection, input) => get(connection, `/reports?${toQueryText(input)}`),
  }),
  defineTool({
    name: 'check_domains',
    permissions: ['domains:read'],
    description: `Health of sending domains: their state, and the DNS records that are missing or wrong. At most ${maxDomains} domains.`,
    input: Type.Object({}),
    run: async (connection) => {
      const page = (await get(connection, `/domains?limit=${maxDomains}`)) as {
        readonly items: readonly { readonly domain: string }[];
        readonly nextCursor: string | null;
      };
      const domains: object[] = [];
      for (const { domain } of page.items) {
        const found = await get(connection, `/domains/${encodeURIComponent(domain)}`);
        const { records, ...rest } = found as DomainAnswer;
        domains.push({ ...rest, faulty: records.filter(({ state }) => state !== 'ok') });
      }
      return { domains, more: page.nextCursor !== null };
    },
  }),
  defineTool({
    name: 'find_suppressions',
    permissions: ['suppressions:read'],
    description: 'Whether an address gets no email, since when and why.',
    input: Type.Object({ address: textInput(320, undefined, 3) }),
    run: async (connection, { address }) => {
      const found = await connection.find(`/suppressions/${encodeURIComponent(address)}`);
      return found?.body ?? { items: [] };
    },
  }),
  defineTool({
    name: 'list_attention',
    permissions: ['reports:read'],
    description:
      'What needs attention, such as paused queues, failing webhooks and unverified domains.',
    input: Type.Object({}),
    run: (connection) => get(connection, '/attention'),
  }),
];
