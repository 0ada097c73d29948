import { type Static, Type } from 'typebox';
import { personOf } from '../../access/principal.ts';
import { strict, Time } from '../../foundation/common-schemas.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { readDraft, removeDraft, saveDraft } from '../../template/template-page-store.ts';
import { accountOf, actorOf, type OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { requireTemplate } from './manage-templates-routes.ts';
import { resolveImages, storeUploads } from './store-images.ts';
import { DraftContentSchema, DraftContentView } from './template-views.ts';

const DraftView = Type.Object(
  { content: DraftContentView, changedAt: Time('When it last changed.') },
  { ...strict, title: 'TemplateDraft' },
);

export function draftOf(call: OperationCall) {
  const { templateId } = call.params;
  return {
    kind: 'template_draft',
    unrecorded: ['content', 'changedAt'] as const,
    id: templateId,
    async read(transaction: DatabaseTransaction) {
      const draft = await readDraft(transaction, accountOf(call).id, templateId);
      return (
        draft && {
          content: draft.content as Static<typeof DraftContentView>,
          changedAt: draft.changedAt,
        }
      );
    },
  };
}

export const draftRoutes = resourceRoutes({
  path: '/accounts/:accountId/templates/:templateId/draft',
  access: { read: 'templates:read', write: 'templates:write' },
  view: DraftView,
  resource: draftOf,
  get: { id: 'getDraft', summary: 'Get the draft of a template', requireParent: requireTemplate },
  put: {
    id: 'putDraft',
    summary: 'Save the draft of a template',
    description:
      'Drafts may contain errors, which only block publishing. Replaces the whole draft, so omitted members are removed.',
    body: DraftContentSchema,
    bodyMember: 'content',
    size: 'content',
    async write(call) {
      const { images: given = [], ...content } = call.body;
      // Contents are stored before the transaction; those that no draft uses then are deleted later.
      if (given.length > 0) await requireTemplate(call);
      const uploads = await storeUploads(call, given);
      return async (transaction) => {
        await requireTemplate(call, transaction);
        const images = await resolveImages(call, transaction, given, uploads);
        await saveDraft(transaction, {
          accountId: accountOf(call).id,
          templateId: call.params.templateId,
          content: { ...content, ...(images.length === 0 ? {} : { images }) },
          personId: personOf(actorOf(call)),
        });
      };
    },
  },
  remove: {
    id: 'deleteDraft',
    summary: 'Discard the draft of a template',
    write: (call) => (transaction) =>
      removeDraft(transaction, accountOf(call).id, call.params.templateId),
  },
});
