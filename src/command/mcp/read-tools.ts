import { z } from 'zod';
import type { ManagementConnection } from '../../template-types/management-connection.ts';
import { type AgentTool, defineTool, findAnswer, toQueryText } from './tool.ts';

const limit = z.number().int().min(1).max(50).default(20).describe('Max items.');
const cursor = z.string().max(2_000).optional().describe('The `nextCursor` of the previous page.');
const time = z.string().max(64).describe('A time or date (ISO 8601); a date means midnight UTC.');
const templateId = z.string().min(1).max(64).describe('The ID of a template.');

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
    input: z.object({
      recipient: z.string().max(320).optional().describe('An address, or a part of it.'),
      state: z.enum(states).optional(),
      waiting: z.boolean().optional().describe('Only messages that haven’t ended.'),
      templateId: templateId.optional(),
      tag: z.string().max(48).optional(),
      externalId: z.string().max(128).optional().describe('The application’s own identifier.'),
      from: time.optional(),
      until: time.optional(),
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
    input: z.object({ messageId: z.string().min(1).max(64) }),
    run: async (connection, { messageId }) =>
      withoutContent(
        (await get(connection, `/messages/${encodeURIComponent(messageId)}`)) as MessageAnswer,
      ),
  }),
  defineTool({
    name: 'list_templates',
    permissions: ['templates:read'],
    description: 'List templates with their subject and published version.',
    input: z.object({ contains: z.string().max(200).optional(), limit, cursor }),
    run: (connection, input) => get(connection, `/templates?${toQueryText(input)}`),
  }),
  defineTool({
    name: 'get_template',
    permissions: ['templates:read'],
    description:
      'The content and the fields of a template’s published version, and whether it has a draft.',
    input: z.object({ templateId }),
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
    input: z.object({
      from: time,
      until: time,
      group: z
        .enum(['none', 'hour', 'day', 'template', 'locale', 'tag', 'sender', 'destination'])
        .default('none'),
      templateId: templateId.optional(),
      tag: z.string().max(48).optional(),
      timeZone: z.string().max(64).optional().describe('Of days and hours, such as Europe/Berlin.'),
    }),
    run: (connection, input) => get(connection, `/reports?${toQueryText(input)}`),
  }),
  defineTool({
    name: 'check_domains',
    permissions: ['domains:read'],
    description: `Health of sending domains: their state, and the DNS records that are missing or wrong. At most ${maxDomains} domains.`,
    input: z.object({}),
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
    input: z.object({ address: z.string().min(3).max(320) }),
    run: async (connection, { address }) => {
      const found = await findAnswer(connection, `/suppressions/${encodeURIComponent(address)}`);
      return found?.body ?? { items: [] };
    },
  }),
  defineTool({
    name: 'list_attention',
    permissions: ['reports:read'],
    description:
      'What needs attention, such as paused queues, failing webhooks and unverified domains.',
    input: z.object({}),
    run: (connection) => get(connection, '/attention'),
  }),
];
