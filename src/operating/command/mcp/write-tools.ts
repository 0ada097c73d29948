import { Type } from 'typebox';
import { Text } from '../../../base/values/common-schemas.ts';
import type {
  ManagementAnswer,
  ManagementConnection,
} from '../../../content/template-types/management-connection.ts';
import { TypesFailure } from '../../../content/template-types/management-connection.ts';
import { type AgentTool, defineTool, textInput } from './tool.ts';

const templateId = Text('The ID of a template.', { pattern: '^[A-Za-z0-9_-]{1,64}$' });
const maxPart = 200_000;

/** Tools that change something. Only `--allow-write` offers them. None publishes or deletes. */
export const writeTools: readonly AgentTool[] = [
  defineTool({
    name: 'send_test',
    permissions: ['messages:test', 'templates:read'],
    description:
      'Send a test message of a template’s draft, or else of its published version, to an address. It is a real email; each call sends one.',
    input: Type.Object({
      templateId,
      to: textInput(320, undefined, 3),
      values: Type.Optional(
        Type.Object(
          {},
          {
            additionalProperties: Type.Unknown(),
            description: 'Values by field name; others get their sample or default.',
          },
        ),
      ),
      locale: Type.Optional(textInput(35)),
    }),
    writes: { destructive: false, repeatable: false },
    run: async (connection, { templateId: id, ...body }) =>
      (await connection.call('POST', `/templates/${id}/test-send`, { body })).body,
  }),
  defineTool({
    name: 'draft_template',
    permissions: ['templates:read', 'templates:write'],
    description:
      'Create a template, or save a draft of one. People publish drafts in the console; nothing that is sent changes. What isn’t given stays as in the draft, or else the published version: languages, images, fields, sender. An existing draft is replaced only with `replaceDraft`.',
    input: Type.Object({
      templateId,
      name: Type.Optional(textInput(200, 'Of a new template.', 1)),
      createdBy: Type.Optional(
        textInput(
          320,
          'Address of a user of the account; for a new template, if no user created the key.',
        ),
      ),
      subject: textInput(10_000, 'With {{fields}}.', 1),
      previewText: Type.Optional(textInput(10_000)),
      html: Type.Optional(textInput(maxPart, 'The HTML part; or use `mjml`.')),
      mjml: Type.Optional(textInput(maxPart)),
      text: Type.Optional(textInput(maxPart, 'Default: generated from the HTML.')),
      replaceDraft: Type.Optional(Type.Boolean({ default: false })),
    }),
    writes: { destructive: true, repeatable: true },
    run: async (connection, { templateId: id, name = id, createdBy, replaceDraft, ...content }) => {
      const path = `/templates/${id}`;
      const template = await connection.find(path);
      if (template === undefined)
        await connection.call('PUT', path, { body: { name, createdBy }, ifNoneMatch: '*' });
      const draft = await connection.find(`${path}/draft`);
      if (draft !== undefined && !replaceDraft)
        throw new TypesFailure(
          `Template ${id} has a draft. Read it in the console, then call again with replaceDraft: true`,
        );
      const match = draft === undefined ? { ifNoneMatch: '*' as const } : { ifMatch: draft.etag };
      const before = draft ?? (await findPublished(connection, path, template));
      const body = mergeContent(before?.body, content);
      return (await connection.call('PUT', `${path}/draft`, { body, ...match })).body;
    },
  }),
];

async function findPublished(
  connection: ManagementConnection,
  path: string,
  template: ManagementAnswer | undefined,
): Promise<ManagementAnswer | undefined> {
  const { publishedVersion = null } = (template?.body ?? {}) as {
    readonly publishedVersion?: number | null;
  };
  return publishedVersion === null
    ? undefined
    : await connection.call('GET', `${path}/versions/${publishedVersion}`);
}

const bodyParts = ['html', 'mjml', 'text'] as const;

/** The new content with what the tool can't write, such as languages and images, from the content before. */
function mergeContent(before: unknown, content: Readonly<Record<string, unknown>>): object {
  const { content: earlier = {} } = (before ?? {}) as { readonly content?: object };
  // A text or MJML part of other HTML would be sent with it.
  const isBodyNew = bodyParts.some((part) => content[part] !== undefined);
  const kept = Object.entries(earlier).filter(
    ([name]) => !isBodyNew || !bodyParts.some((part) => part === name),
  );
  return { ...Object.fromEntries(kept), ...content };
}
