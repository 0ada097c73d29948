import { Type } from 'typebox';
import { personOf } from '../../access/principal.ts';
import { readMembers } from '../../account/membership-store.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { TemplateSchema } from '../../manifest/manifest-schema.ts';
import { removeTemplate, saveTemplate } from '../../template/template-store.ts';
import { strict } from '../answer/common-schemas.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { invalidField } from '../answer/problem.ts';
import { accountOf, actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { removeResource, requireResource, saveResource } from '../save-resource.ts';
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

/** @throws Problem where the account has no such template in use */
export function requireTemplate(
  call: OperationCall,
  transaction?: DatabaseTransaction,
): Promise<TemplateFacts> {
  return requireResource(call, templateChange(call), transaction);
}

export const listTemplates = defineOperation({
  id: 'listTemplates',
  summary: 'List the templates of an account',
  query: pageQuery({
    contains: Type.Optional(
      Type.String({ description: 'Part of the name or id, in any case.', maxLength: 200 }),
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
  summary: 'Read a template',
  answer: TemplateView,
  handle: (call) => requireTemplate(call),
});

export const putTemplate = defineOperation({
  id: 'putTemplate',
  summary: 'Make a template, or change its settings',
  description:
    'Nothing is sent with it before a version is published. Its content is the draft. What is left out of one that exists stays as it is; a default is what a new one gets.',
  body: Type.Object(
    {
      name: TemplateSchema.properties.name,
      createdBy: Type.Optional(
        Type.String({
          description:
            'Address of a user of the account; the sender where neither request nor template names one. Default: the caller.',
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
        if (/\p{Cc}/u.test(name)) throw invalidField('name', 'has a control character');
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
  if (found === undefined) throw invalidField('createdBy', 'is no user of the account');
  return found.personId;
}

export const deleteTemplate = defineOperation({
  id: 'deleteTemplate',
  summary: 'Take a template out of use',
  description:
    'Its versions stay for the messages that were accepted with them; putting it again brings it back.',
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
