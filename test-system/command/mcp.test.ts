import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { readTools } from '../../src/operating/command/mcp/read-tools.ts';
import { writeTools } from '../../src/operating/command/mcp/write-tools.ts';
import { addKey } from '../../test/support/api-key.ts';
import { FeedbackShop } from '../../test/support/feedback-shop.ts';
import { readInbox } from '../../test/support/inbox-client.ts';
import { ManagementClient } from '../../test/support/management-client.ts';
import { openShop } from '../../test/support/shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const root = join(import.meta.dirname, '../..');
const shop = await FeedbackShop.open();
await shop.publish('note', '<p>{{Name}}</p>', { Name: { sample: 'Ada' } });
const key = await addKey(shop.database, shop.shop.id);

interface Opening {
  readonly key?: string;
  readonly url?: string;
  readonly write?: boolean;
}

/** A client of the command, as a host of agents starts it. */
async function openClient({
  key: own = key,
  url = shop.service.url,
  write = false,
}: Opening = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({
    command: join(root, 'bin/signalpost'),
    args: ['mcp', '--url', url, ...(write ? ['--allow-write'] : [])],
    env: { PATH: process.env.PATH ?? '', SIGNALPOST_API_KEY: own },
    stderr: 'ignore',
  });
  await client.connect(transport);
  after(() => client.close());
  return client;
}

interface ToolAnswer {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: Record<string, unknown>;
}

async function call(client: Client, name: string, input: object = {}): Promise<ToolAnswer> {
  return (await client.callTool({ name, arguments: { ...input } })) as unknown as ToolAnswer;
}

const [reader, writer, limited] = await Promise.all([
  openClient(),
  openClient({ write: true }),
  openClient({
    key: await addKey(shop.database, shop.shop.id, { scopes: ['messages:send'] }),
    write: true,
  }),
]);

test('without --allow-write, an agent can only read', async () => {
  const { tools } = await reader.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    readTools.map(({ name }) => name),
  );
  assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true));
  const input = { templateId: 'note', to: 'ada@people.test' };
  await assert.rejects(() => call(reader, 'send_test', input), /not found/i);
});

test('with --allow-write, tools that write say so', async () => {
  const { tools } = await writer.listTools();
  const writing = tools.filter(({ annotations }) => annotations?.readOnlyHint === false);
  assert.deepEqual(
    writing.map(({ name }) => name),
    writeTools.map(({ name }) => name),
  );
});

test('the page for agents lists every tool with its permissions', async () => {
  const page = await readFile(join(root, 'docs/agents.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \| (.+?) \|/gm)].map(([, name, permissions]) => [
    name,
    permissions?.replaceAll('`', '').split(', '),
  ]);
  assert.deepEqual(
    rows,
    [...readTools, ...writeTools].map(({ name, permissions }) => [name, permissions]),
  );
});

test('an agent finds a message and learns why it hasn’t arrived', async () => {
  await shop.send('note', { to: 'bounce@simulator.test', values: { Name: 'Ada' } }).catch(() => 0);
  const found = await call(reader, 'find_messages', { recipient: 'bounce@simulator.test' });
  const { items } = found.structuredContent as { items: { id: string; state: string }[] };
  const [message] = items;
  assert.equal(message?.state, 'bounced');
  const explained = await call(reader, 'explain_message', { messageId: message?.id });
  assert.match(explained.content[0]?.text ?? '', /not instructions/);
  const { recipients, events, content } = explained.structuredContent as {
    recipients: { explanation: { sentence: string } }[];
    events: { kind: string; detail: object }[];
    content?: unknown;
  };
  assert.match(recipients[0]?.explanation.sentence ?? '', /./);
  assert.ok(events.some(({ kind }) => kind === 'bounced'));
  assert.ok(events.every(({ detail }) => !('transcript' in (detail ?? {}))));
  assert.equal(content, undefined);
});

test('invalid input is an error of the tool that names each property', async () => {
  const response = await call(reader, 'find_messages', { limit: 51, state: 'lost' });
  assert.equal(response.isError, true);
  assert.match(response.content[0]?.text ?? '', /limit must be <= 50/);
  assert.match(response.content[0]?.text ?? '', /state must be .*: queued, sending, /);
  const missing = await call(reader, 'explain_message');
  assert.match(missing.content[0]?.text ?? '', /required properties messageId/);
});

test('a property that a tool doesn’t have is ignored', async () => {
  const response = await call(reader, 'list_templates', { limit: 1, color: 'red' });
  assert.equal(response.isError, undefined, String(response.content[0]?.text));
});

test('a message of another account is not found', async () => {
  const { id } = await openShop(shop.database, { id: '999' });
  const other = await openClient({ key: await addKey(shop.database, id) });
  const { mail: _, id: messageId } = await shop.send('note', { values: { Name: 'Ada' } });
  const response = await call(other, 'explain_message', { messageId });
  assert.equal(response.isError, true);
  assert.match(response.content[0]?.text ?? '', /not found|no message/i);
});

for (const [name, input] of [
  ['list_templates', {}],
  ['get_template', { templateId: 'note' }],
  ['get_report', { from: '2026-01-01', until: '2036-01-01', group: 'template' }],
  ['check_domains', {}],
  ['find_suppressions', { address: 'ada@people.test' }],
  ['list_attention', {}],
] as const)
  test(`the tool ${name} returns a result`, async () => {
    const response = await call(reader, name, input);
    assert.equal(response.isError, undefined, String(response.content[0]?.text));
    assert.equal(typeof response.structuredContent, 'object');
  });

for (const tool of [...readTools, ...writeTools])
  test(`a key without ${tool.permissions.join(' and ')} can’t use ${tool.name}`, async () => {
    const response = await call(limited, tool.name, {
      messageId: '0198a1b2-0000-7000-8000-000000000000',
      templateId: 'note',
      to: 'ada@people.test',
      subject: 'News',
      from: '2026-01-01',
      until: '2026-01-02',
      address: 'ada@people.test',
    });
    assert.equal(response.isError, true);
    assert.match(response.content[0]?.text ?? '', new RegExp(tool.permissions[0] ?? ''));
  });

test('a key that the service doesn’t know is an error of the tool, and doesn’t show the key', async () => {
  const client = await openClient({ key: key.replace(/_.{43}_/, `_${'a'.repeat(43)}_`) });
  const response = await call(client, 'list_templates');
  assert.equal(response.isError, true);
  assert.ok(!JSON.stringify(response).includes('sp_'));
});

test('a service that is down is an error of the tool', async () => {
  const client = await openClient({ url: 'http://127.0.0.1:1' });
  const response = await call(client, 'list_templates');
  assert.equal(response.isError, true);
  assert.match(response.content[0]?.text ?? '', /127\.0\.0\.1:1/);
});

test('an agent sends a test', async () => {
  const to = 'tester@people.test';
  const response = await call(writer, 'send_test', { templateId: 'note', to });
  assert.equal(response.isError, undefined, String(response.content[0]?.text));
  await waitFor(
    'the mail',
    async () => (await readInbox(shop.service.url, `?to=${to}`)).length === 1,
  );
});

test('an agent drafts a template, and replaces a draft only when told to', async () => {
  const draft = {
    templateId: 'welcome',
    createdBy: shop.shop.owner.email,
    subject: 'Welcome',
    html: '<p>Hello {{Name}}</p>',
  };
  const created = await call(writer, 'draft_template', draft);
  assert.equal(created.isError, undefined, String(created.content[0]?.text));
  const again = { ...draft, subject: 'Hello' };
  assert.match(
    (await call(writer, 'draft_template', again)).content[0]?.text ?? '',
    /replaceDraft/,
  );
  const replaced = await call(writer, 'draft_template', { ...again, replaceDraft: true });
  assert.equal(replaced.isError, undefined, String(replaced.content[0]?.text));
  const { structuredContent } = await call(reader, 'get_template', { templateId: 'welcome' });
  assert.equal(structuredContent?.hasDraft, true);
  assert.equal(structuredContent?.publishedVersion, null);
});

test('a draft keeps what an agent can’t write: languages, fields and sender', async () => {
  const api = new ManagementClient(shop.service, key);
  const path = `/accounts/${shop.shop.id}/templates/note`;
  const others = {
    locale: 'en',
    variants: { de: { subject: 'Notiz', text: 'Hallo {{Name}}' } },
    fields: { Name: { default: 'you' } },
    sender: 'orders@shop.test',
  };
  await api.put(`${path}/draft`, { subject: 'Note', text: 'Hello {{Name}}', ...others });
  const draft = { templateId: 'note', subject: 'A note', html: '<p>Dear {{Name}}</p>' };
  const expected = { ...others, subject: draft.subject, html: draft.html };
  const contentOf = async () => {
    const { freshnessMinutes: _, ...content } = (await api.get(`${path}/draft`)).body
      .content as Record<string, unknown>;
    return content;
  };
  await call(writer, 'draft_template', { ...draft, replaceDraft: true });
  assert.deepEqual(await contentOf(), expected);
  assert.equal((await api.post(`${path}/publish`, {})).status, 200);
  await call(writer, 'draft_template', { ...draft, subject: 'Another' });
  assert.deepEqual(await contentOf(), { ...expected, subject: 'Another' });
});
