import { Type } from 'typebox';
import { personOf } from '../../access/principal.ts';
import { strict, Time } from '../answer/schema-parts.ts';
import {
  removeResource,
  requireResource,
  saveResource,
  type Transaction,
} from '../change-resource.ts';
import { accountOf, actorOf, type Call, endpoint } from '../endpoint.ts';
import { requireTemplate } from './manage-templates-routes.ts';
import { readDraft, removeDraft, saveDraft } from './template-page-store.ts';
import { type Content, TemplateContent } from './template-views.ts';

const DraftView = Type.Object(
  { content: TemplateContent, changedAt: Time('When it was changed last.') },
  { ...strict, title: 'TemplateDraft' },
);

export function draftChange(call: Call) {
  const { templateId } = call.params;
  return {
    kind: 'template_draft',
    id: templateId,
    async read(transaction: Transaction) {
      const draft = await readDraft(transaction, accountOf(call).id, templateId);
      return draft && { content: draft.content as Content, changedAt: draft.changedAt };
    },
  };
}

export const getDraft = endpoint({
  id: 'getDraft',
  summary: 'Read the draft of a template',
  answer: DraftView,
  async handle(call) {
    await requireTemplate(call);
    return requireResource(call, draftChange(call));
  },
});

export const putDraft = endpoint({
  id: 'putDraft',
  summary: 'Write the draft of a template',
  description:
    'A draft may have problems; only publishing refuses them. It is written as a whole: what is left out it has no more.',
  body: TemplateContent,
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

export const deleteDraft = endpoint({
  id: 'deleteDraft',
  summary: 'Throw the draft of a template away',
  conditional: true,
  handle: (call) =>
    removeResource(call, {
      ...draftChange(call),
      write: (transaction) => removeDraft(transaction, accountOf(call).id, call.params.templateId),
    }),
});
