import { Type } from 'typebox';
import { personOf } from '../../access/principal.ts';
import { readMembers } from '../../account/membership-store.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { TemplateSchema } from '../../manifest/manifest-schema.ts';
import { removeTemplate, saveTemplate } from '../../template/template-store.ts';
import { strict } from '../answer/common-schemas.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { invalidField } from '../answer/problem.ts';
import { removeResource, requireResource, saveResource } from '../change-resource.ts';
import { accountOf, actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { readTemplateFacts, removeDraft, type TemplateFacts } from './template-page-store.ts';
import { TemplateView } from './template-views.ts';

export function templateChange(call: OperationCall) {
  const { templateId } = call.params;
  return {
    kind: 'template',
    id: templateId,
    async read(transaction: DatabaseTransaction): Promise<TemplateFacts | undefined> {
      const [found] = await readTemplateFacts(transaction, accountOf(call).id, { id: templateId });
      return found;
    },
  };
}

/** @throws Problem if the template doesn't exist or was deleted */
export function requireTemplate(
  call: OperationCall,
  transaction?: DatabaseTransaction,
): Promise<TemplateFacts> {
  return requireResource(call, templateChange(call), transaction);
}

export const listTemplates = defineOperation({
  id: 'listTemplates',
  summary: 'List templates',
  query: pageQuery({
    contains: Type.Optional(
      Type.String({ description: 'Part of the name or id, case-insensitive.', maxLength: 200 }),
    ),
  }),
  answer: pageOf(TemplateView),
  async handle(call) {
    const limit = pageSizeOf(call.query);
    const [after = ''] = readCursor(call.query, 'text') ?? [];
    const rows = await readTemplateFacts(call.dependencies.database.kysely, accountOf(call).id, {
      contains: call.query.contains,
      after,
      limit: limit + 1,
    });
    return toPage(
      rows,
      limit,
      (row) => row,
      ({ id }) => [id],
    );
  },
});

export const getTemplate = defineOperation({
  id: 'getTemplate',
  summary: 'Get a template',
  answer: TemplateView,
  handle: (call) => requireTemplate(call),
});

export const putTemplate = defineOperation({
  id: 'putTemplate',
  summary: 'Create or update a template',
  description:
    'Manages the settings; the content is the draft. You can send with it once a version is published. When updating, omitted members stay unchanged; defaults apply to new templates only.',
  body: Type.Object(
    {
      name: TemplateSchema.properties.name,
      createdBy: Type.Optional(
        Type.String({
          description:
            'Email of a user of the account, used as the sender if neither the request nor the template names one. Default: the caller.',
          maxLength: 320,
        }),
      ),
      whenUncertain: Type.Optional(TemplateView.properties.whenUncertain),
    },
    strict,
  ),
  answer: TemplateView,
  conditional: true,
  handle: (call) =>
    saveResource(call, {
      ...templateChange(call),
      async write(transaction, before) {
        const { id: accountId } = accountOf(call);
        const { templateId } = call.params;
        const { name, whenUncertain } = call.body;
        if (/\p{Cc}/u.test(name)) throw invalidField('name', 'contains a control character');
        const createdBy = await readCreator(transaction, call, before?.createdBy);
        await saveTemplate(transaction, {
          accountId,
          id: templateId,
          name,
          createdBy,
          whenUncertain,
        });
      },
    }),
});

async function readCreator(
  transaction: DatabaseTransaction,
  call: OperationCall<unknown, { readonly createdBy?: string }>,
  before: string | undefined,
) {
  const members = await readMembers(transaction, accountOf(call).id);
  const email = (call.body.createdBy ?? before)?.toLowerCase();
  const self = personOf(actorOf(call));
  const found = members.find((member) =>
    email === undefined ? member.personId === self : member.email === email,
  );
  if (found === undefined) throw invalidField('createdBy', 'must be a user of the account');
  return found.personId;
}

export const deleteTemplate = defineOperation({
  id: 'deleteTemplate',
  summary: 'Delete a template',
  description:
    'Its versions are kept for messages already accepted. Creating it again restores them.',
  conditional: true,
  handle: (call) =>
    removeResource(call, {
      ...templateChange(call),
      async write(transaction) {
        const { id: accountId } = accountOf(call);
        await removeDraft(transaction, accountId, call.params.templateId);
        await removeTemplate(transaction, accountId, call.params.templateId);
      },
    }),
});
