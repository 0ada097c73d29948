import { Type } from 'typebox';
import { personOf } from '../../access/principal.ts';
import { readMembers } from '../../account/membership-store.ts';
import { findPersonByEmail } from '../../account/person-store.ts';
import { strict } from '../../foundation/common-schemas.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import type { PersonId } from '../../foundation/ids.ts';
import { TemplateSchema } from '../../manifest/manifest-schema.ts';
import {
  readCreator,
  readTemplateFacts,
  type TemplateFacts,
} from '../../template/template-page-store.ts';
import { removeTemplate, saveTemplate } from '../../template/template-store.ts';
import { invalidField } from '../answer/problem.ts';
import { accountOf, actorOf, type OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { requireResource } from '../save-resource.ts';
import { TemplateView } from './template-views.ts';

function templateOf(call: OperationCall) {
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
  return requireResource(call, templateOf(call), transaction);
}

export const templateRoutes = resourceRoutes({
  path: '/accounts/:accountId/templates/:templateId',
  access: { read: 'templates:read', write: 'templates:write', remove: 'templates:publish' },
  view: TemplateView,
  resource: templateOf,
  list: {
    id: 'listTemplates',
    summary: 'List templates',
    filters: {
      contains: Type.Optional(
        Type.String({ description: 'Part of the name or ID, case-insensitive.', maxLength: 200 }),
      ),
    },
    key: 'id',
    read: (call, page) =>
      readTemplateFacts(call.dependencies.database.kysely, accountOf(call).id, {
        contains: call.query.contains,
        ...page,
      }),
  },
  get: { id: 'getTemplate', summary: 'Get a template' },
  put: {
    id: 'putTemplate',
    summary: 'Create or update a template',
    description:
      'Manages the settings. The content is in the draft. You can send with the template once a version is published. When updating, omitted members stay unchanged, also if the template was deleted; defaults apply to new templates only.',
    body: Type.Object(
      {
        name: TemplateSchema.properties.name,
        createdBy: Type.Optional(
          Type.String({
            description:
              'Email of a user of the account, used as the sender if neither the request nor the template names one. Default: who created it, or the caller.',
            maxLength: 320,
          }),
        ),
        whenUncertain: Type.Optional(TemplateView.properties.whenUncertain),
      },
      strict,
    ),
    write: (call) => async (transaction) => {
      const { id: accountId } = accountOf(call);
      const { templateId: id } = call.params;
      const { name, whenUncertain } = call.body;
      if (/\p{Cc}/u.test(name)) throw invalidField('name', 'contains a control character');
      const createdBy = await creatorFor(transaction, call);
      await saveTemplate(transaction, { accountId, id, name, createdBy, whenUncertain });
    },
  },
  remove: {
    id: 'deleteTemplate',
    summary: 'Delete a template',
    description:
      'Its versions are kept for messages already accepted. Creating it again restores it with them, its draft and its creator.',
    write: (call) => (transaction) =>
      removeTemplate(transaction, accountOf(call).id, call.params.templateId),
  },
});

async function creatorFor(
  transaction: DatabaseTransaction,
  call: OperationCall<unknown, { readonly createdBy?: string }>,
): Promise<PersonId> {
  const { id: accountId } = accountOf(call);
  const { createdBy } = call.body;
  const before = await readCreator(transaction, accountId, call.params.templateId);
  const creator =
    createdBy === undefined
      ? (before ?? personOf(actorOf(call)))
      : (await findPersonByEmail(transaction, createdBy))?.id;
  // A creator who has left the account stays: they don't lock the template.
  if (creator !== undefined && creator === before) return creator;
  const members = await readMembers(transaction, accountId);
  if (creator === undefined || !members.some(({ personId }) => personId === creator))
    throw invalidField('createdBy', 'must be a user of the account');
  return creator;
}
