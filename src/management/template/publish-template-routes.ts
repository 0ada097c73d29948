import { Type } from 'typebox';
import { personOf } from '../../access/principal.ts';
import { readTemplateUsage } from '../../feedback/template-usage/template-usage-store.ts';
import { strict } from '../../foundation/common-schemas.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { parseTemplateId } from '../../foundation/ids.ts';
import {
  type CompiledContents,
  NotCompiled,
  withCompiledContents,
} from '../../manifest/compiled-contents.ts';
import { TemplateSchema } from '../../manifest/manifest-schema.ts';
import type { RequiredNames } from '../../template/compiled-template.ts';
import {
  readDraft,
  readTemplateFacts,
  readTemplateVersion,
  removeDraft,
  saveDraft,
  setPublishedVersion,
} from '../../template/template-page-store.ts';
import { saveTemplate } from '../../template/template-store.ts';
import { requirePreconditions } from '../answer/entity-tag.ts';
import { invalidField, notFound, Problem } from '../answer/problem.ts';
import { applyManifestPart } from '../apply-manifest-part.ts';
import { accountOf, actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { inTransaction, recordAudit } from '../save-resource.ts';
import { findBrokenUsage } from './find-broken-usage.ts';
import { draftOf } from './manage-drafts-routes.ts';
import { requireTemplate } from './manage-templates-routes.ts';
import { contentOf, TemplateView, type VersionContent } from './template-views.ts';

const PublishedView = Type.Object(
  {
    version: Type.Integer({ description: 'The version that is sent from now on.' }),
    notes: Type.Array(Type.String(), { description: 'Warnings about the template.' }),
  },
  { ...strict, title: 'Published' },
);

const Force = Type.Optional(
  Type.Boolean({
    description: 'Publish also where recent callers would be refused. Default false.',
  }),
);

/**
 * The template contract: a version that callers of the last 30 days do not give enough for is not published by accident.
 * @throws Problem that names the fields and the last message of each way of calling
 */
async function requireNoBrokenCallers(
  call: OperationCall<unknown, { readonly force?: boolean }>,
  transaction: DatabaseTransaction,
  required: RequiredNames,
): Promise<void> {
  if (call.body.force === true) return;
  const { id } = accountOf(call);
  const calls = await readTemplateUsage(transaction, id, call.params.templateId);
  const broken = findBrokenUsage(required, calls);
  if (broken.length === 0) return;
  const names = [...new Set(broken.flatMap(({ missing }) => missing))];
  throw new Problem(
    'breaks-callers',
    `Callers of the last 30 days gave no value for ${names.join(', ')}; give a default, or publish with force`,
    { extra: { missing: names, calls: broken.slice(0, 20) } },
  );
}

export const publishTemplate = defineOperation({
  id: 'publishTemplate',
  summary: 'Publish the draft as the next version',
  description:
    'A version that would break calls seen in the last 30 days is refused with 409 unless `force` is set. Published content that is the same makes no new version. `If-Match` takes the ETag of the draft, so that nobody publishes what they have not seen.',
  body: Type.Object({ force: Force }, strict),
  answer: PublishedView,
  status: 200,
  conditional: true,
  async handle(call) {
    try {
      return await withCompiledContents(accountOf(call).id, (contents) => publish(call, contents));
    } catch (error) {
      if (!(error instanceof NotCompiled)) throw error;
      throw new Problem('conflict', 'The draft keeps changing; read it again');
    }
  },
});

function publish(
  call: OperationCall<unknown, { readonly force?: boolean }>,
  contents: CompiledContents,
) {
  return inTransaction(call, async (transaction) => {
    const { id: accountId } = accountOf(call);
    const { templateId } = call.params;
    const template = await requireTemplate(call, transaction);
    const draft = await draftOf(call).read(transaction);
    requirePreconditions(call.request, draft);
    if (draft === undefined) throw new Problem('conflict', 'There is no draft to publish');
    const { name, createdBy } = template;
    const changes = await applyManifestPart(
      call,
      transaction,
      { templates: [{ id: templateId, name, createdBy, ...draft.content }] },
      contents,
    );
    const published = await readTemplateVersion(transaction, accountId, templateId, 'published');
    if (published === undefined) throw new Error('a version is not there after its publication');
    await requireNoBrokenCallers(call, transaction, published.compiled.required);
    await removeDraft(transaction, accountId, templateId);
    const { version } = published;
    await recordAudit(call, transaction, 'template_published', templateId, { version });
    const notes = changes.find(({ kind }) => kind === 'template')?.notes ?? [];
    return { version, notes: notes.filter((note) => note.startsWith('warning')) };
  });
}

export const rollBackTemplate = defineOperation({
  id: 'rollBackTemplate',
  summary: 'Send an earlier version again from now on',
  description:
    'The draft stays as it is. Callers of the last 30 days are looked at as for publishing. `If-Match` takes the ETag of the template, so that nobody undoes a publication that they have not seen.',
  body: Type.Object({ version: Type.Integer({ minimum: 1 }), force: Force }, strict),
  answer: PublishedView,
  status: 200,
  conditional: true,
  handle: (call) =>
    inTransaction(call, async (transaction) => {
      const { id: accountId } = accountOf(call);
      const { templateId } = call.params;
      requirePreconditions(call.request, await requireTemplate(call, transaction));
      const { version } = call.body;
      const row = await readTemplateVersion(transaction, accountId, templateId, version);
      if (row === undefined || row.trial) throw invalidField('version', 'is none of this template');
      await requireNoBrokenCallers(call, transaction, row.compiled.required);
      await setPublishedVersion(transaction, accountId, templateId, version);
      await recordAudit(call, transaction, 'template_rolled_back', templateId, { version });
      return { version, notes: [] };
    }),
});

export const duplicateTemplate = defineOperation({
  id: 'duplicateTemplate',
  summary: 'Make a new template whose draft is the content of this one',
  body: Type.Object(
    { id: TemplateSchema.properties.id, name: TemplateSchema.properties.name },
    strict,
  ),
  answer: TemplateView,
  status: 201,
  handle: (call) =>
    inTransaction(call, async (transaction) => {
      const { id: accountId } = accountOf(call);
      const id = parseTemplateId(call.body.id);
      if (id === undefined) throw invalidField('id', 'can be no id');
      await requireTemplate(call, transaction);
      const content = await currentContent(call, transaction);
      if ((await readTemplateFacts(transaction, accountId, { id })).length > 0)
        throw new Problem('conflict', 'There is a template with this id already');
      const personId = personOf(actorOf(call));
      if (personId === undefined)
        throw new Problem('forbidden', 'A template needs a person who makes it');
      await saveTemplate(transaction, { accountId, id, name: call.body.name, createdBy: personId });
      await saveDraft(transaction, { accountId, templateId: id, content, personId });
      await recordAudit(call, transaction, 'template_created', id, {
        from: call.params.templateId,
      });
      const [made] = await readTemplateFacts(transaction, accountId, { id });
      if (made === undefined) throw notFound('template');
      return made;
    }),
});

/** The draft, else what is published. */
export async function currentContent(
  call: OperationCall,
  transaction: DatabaseTransaction = call.dependencies.database.kysely,
): Promise<VersionContent> {
  const { id } = accountOf(call);
  const { templateId } = call.params;
  const draft = await readDraft(transaction, id, templateId);
  if (draft !== undefined) return draft.content as VersionContent;
  const row = await readTemplateVersion(transaction, id, templateId, 'published');
  if (row === undefined) throw new Problem('conflict', 'The template has no content yet');
  return contentOf(row);
}
