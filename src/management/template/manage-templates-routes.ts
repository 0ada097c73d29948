import { Type } from 'typebox';
import { personOf } from '../../access/principal.ts';
import { readMembers } from '../../account/membership-store.ts';
import { strict } from '../../foundation/common-schemas.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { TemplateSchema } from '../../manifest/manifest-schema.ts';
import {
  readTemplateFacts,
  removeDraft,
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

/** @throws Problem where the account has no such template in use */
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
    summary: 'List the templates of an account',
    filters: {
      contains: Type.Optional(
        Type.String({ description: 'Part of the name or id, in any case.', maxLength: 200 }),
      ),
    },
    key: 'id',
    read: (call, page) =>
      readTemplateFacts(call.dependencies.database.kysely, accountOf(call).id, {
        contains: call.query.contains,
        ...page,
      }),
  },
  get: { id: 'getTemplate', summary: 'Read a template' },
  put: {
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
    write: (call) => async (transaction, before) => {
      const { id: accountId } = accountOf(call);
      const { templateId: id } = call.params;
      const { name, whenUncertain } = call.body;
      if (/\p{Cc}/u.test(name)) throw invalidField('name', 'has a control character');
      const createdBy = await readCreator(transaction, call, before?.createdBy);
      await saveTemplate(transaction, { accountId, id, name, createdBy, whenUncertain });
    },
  },
  remove: {
    id: 'deleteTemplate',
    summary: 'Take a template out of use',
    description:
      'Its versions stay for the messages that were accepted with them; putting it again brings it back.',
    write: (call) => async (transaction) => {
      const { id: accountId } = accountOf(call);
      await removeDraft(transaction, accountId, call.params.templateId);
      await removeTemplate(transaction, accountId, call.params.templateId);
    },
  },
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
