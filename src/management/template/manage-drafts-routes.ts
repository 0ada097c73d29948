import { Type } from 'typebox';
import { personOf } from '../../access/principal.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { strict, Time } from '../answer/common-schemas.ts';
import { removeResource, requireResource, saveResource } from '../change-resource.ts';
import { accountOf, actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { requireTemplate } from './manage-templates-routes.ts';
import { readDraft, removeDraft, saveDraft } from './template-page-store.ts';
import { TemplateContentSchema, type VersionContent } from './template-views.ts';

const DraftView = Type.Object(
  { content: TemplateContentSchema, changedAt: Time('When it last changed.') },
  { ...strict, title: 'TemplateDraft' },
);

export function draftChange(call: OperationCall) {
  const { templateId } = call.params;
  return {
    kind: 'template_draft',
    id: templateId,
    async read(transaction: DatabaseTransaction) {
      const draft = await readDraft(transaction, accountOf(call).id, templateId);
      return draft && { content: draft.content as VersionContent, changedAt: draft.changedAt };
    },
  };
}

export const getDraft = defineOperation({
  id: 'getDraft',
  summary: 'Get the draft of a template',
  answer: DraftView,
  async handle(call) {
    await requireTemplate(call);
    return requireResource(call, draftChange(call));
  },
});

export const putDraft = defineOperation({
  id: 'putDraft',
  summary: 'Save the draft of a template',
  description:
    'Drafts may contain errors; they only block publishing. The whole draft is replaced: omitted members are removed.',
  body: TemplateContentSchema,
  answer: DraftView,
  conditional: true,
  handle: (call) =>
    saveResource(call, {
      ...draftChange(call),
      async write(transaction) {
        await requireTemplate(call, transaction);
        await saveDraft(transaction, {
          accountId: accountOf(call).id,
          templateId: call.params.templateId,
          content: call.body,
          personId: personOf(actorOf(call)),
        });
      },
    }),
});

export const deleteDraft = defineOperation({
  id: 'deleteDraft',
  summary: 'Discard the draft of a template',
  conditional: true,
  handle: (call) =>
    removeResource(call, {
      ...draftChange(call),
      write: (transaction) => removeDraft(transaction, accountOf(call).id, call.params.templateId),
    }),
});
