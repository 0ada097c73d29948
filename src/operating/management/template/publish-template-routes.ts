import { Type } from 'typebox';
import { personOf } from '../../../accounts/access/principal.ts';
import { notifyOwners } from '../../../accounts/notices/security-notice-store.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import { Flag, NamedObject, StrictObject, Whole } from '../../../base/values/common-schemas.ts';
import { parseTemplateId } from '../../../base/values/ids.ts';
import {
  type CompiledTemplate,
  currentFormat,
  type MarkupFormat,
} from '../../../content/template/compiled-template.ts';
import { showsSecret } from '../../../content/template/secret-names.ts';
import {
  readDraft,
  readTemplateFacts,
  readTemplateVersion,
  removeDraft,
  saveDraft,
} from '../../../content/template/template-page-store.ts';
import {
  readKeptSecrets,
  revealTemplateSecrets,
  saveTemplate,
  setPublishedVersion,
} from '../../../content/template/template-store.ts';
import { readTemplateUsage } from '../../../outcomes/report/template-usage-store.ts';
import { applyEntry, buildEntry } from '../../manifest/apply-manifest.ts';
import { buildTemplate } from '../../manifest/build-template.ts';
import { CompiledContents } from '../../manifest/compiled-contents.ts';
import { TemplateSchema } from '../../manifest/manifest-schema.ts';
import { readReferences, templateSection } from '../../manifest/template-section.ts';
import { requirePreconditions } from '../answer/entity-tag.ts';
import { conflict, forbidden, invalidField, notFound, Problem } from '../answer/problem.ts';
import { actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { entryScope, inTransaction, recordAudit } from '../save-resource.ts';
import { findBrokenUsage } from './find-broken-usage.ts';
import { draftOf, requireTemplate } from './manage-templates-routes.ts';
import { contentOf, TemplateView, usedContent, type VersionContent } from './template-views.ts';

const PublishedView = NamedObject('Published', {
  version: Whole('The published version.'),
  notes: Type.Array(Type.String(), { description: 'Warnings about the template.' }),
});

const Force = Type.Optional(
  Flag('Publish even if recent callers would be rejected. Default: false.'),
);

/**
 * Guards against publishing a version that requires fields recent callers (last 30 days) don't supply.
 * @throws Problem with the missing fields and the last message of each kind of call
 */
async function requireNoBrokenCallers(
  call: OperationCall<unknown, { readonly force?: boolean }>,
  transaction: DatabaseTransaction,
  compiled: CompiledTemplate,
): Promise<void> {
  if (call.body.force === true) return;
  const { accountId, templateId } = call.params;
  const calls = await readTemplateUsage(transaction, accountId, templateId);
  const broken = findBrokenUsage(compiled, calls);
  if (broken.length === 0) return;
  const missing = [...new Set(broken.flatMap((usage) => usage.missing))];
  const mismatched = [...new Set(broken.flatMap((usage) => usage.mismatched))];
  const found = [
    ...(missing.length === 0 ? [] : [`supplied no value for ${missing.join(', ')}`]),
    ...(mismatched.length === 0
      ? []
      : [`supplied another kind of value for ${mismatched.join(', ')}`]),
  ];
  const advice = missing.length === 0 ? 'Keep the kind' : 'Add a default';
  throw new Problem(
    'breaks-callers',
    `Callers in the last 30 days ${found.join(' and ')}. ${advice} or publish with force`,
    { extra: { missing, mismatched, calls: broken.slice(0, 20) } },
  );
}

const RevealedFields = Type.Optional(
  Type.Array(Type.String({ maxLength: 200 }), {
    maxItems: 100,
    uniqueItems: true,
    description:
      'Fields that were secret and no longer are. Requires `policy:write` and a confirmation, and owners get a notice.',
  }),
);

/**
 * Keeps fields secret that an earlier version declared so: their values would be stored, tracked and shown from now on.
 * @throws Problem with the fields, unless an owner reveals them
 */
async function requireKeptSecrets(
  call: OperationCall<unknown, { readonly revealedFields?: readonly string[] }>,
  transaction: DatabaseTransaction,
  compiled: CompiledTemplate,
): Promise<void> {
  const { accountId, templateId } = call.params;
  const { revealedFields = [] } = call.body;
  const [kept = '[]'] = await readKeptSecrets(transaction, [{ accountId, templateId }]);
  const revealed = (JSON.parse(kept) as string[]).filter((name) =>
    compiled.fields.some((field) => !field.secret && showsSecret(field, new Set([name]))),
  );
  if (!revealed.every((name) => revealedFields.includes(name)))
    throw conflict(
      `The fields ${revealed.join(', ')} were secret in an earlier version. Keep them secret, or let an owner publish with revealedFields`,
      { extra: { secretFields: revealed } },
    );
  if (revealed.length === 0) return;
  await call.requirePermission('policy:write', { field: 'revealedFields', confirmed: true });
  await revealTemplateSecrets(transaction, { accountId, templateId }, revealed);
  const personId = personOf(actorOf(call));
  if (personId !== undefined)
    await notifyOwners(transaction, accountId, 'template-fields-revealed', personId);
}

export const publishTemplate = defineOperation({
  id: 'publishTemplate',
  summary: 'Publish the draft as the next version',
  description:
    'Fails with 409 if the version would break calls seen in the last 30 days, unless `force` is set. Publishing unchanged content creates no new version. Send the ETag of the draft in `If-Match` to publish exactly what you reviewed.',
  body: StrictObject({ force: Force, revealedFields: RevealedFields }),
  answer: PublishedView,
  status: 200,
  conditional: true,
  async handle(call) {
    const { accountId, templateId } = call.params;
    const contents = new CompiledContents(accountId);
    const seen = await readDraftEntry(call, call.kysely);
    await contents.compile([await buildEntry(buildTemplate, seen)]);
    return inTransaction(call, async (transaction) => {
      const draft = await readDraftEntry(call, transaction);
      if (contents.get(await buildEntry(buildTemplate, draft)) === undefined)
        throw conflict('The draft keeps changing. Read it again and retry');
      const section = templateSection(await readReferences(transaction, accountId));
      const scope = { ...entryScope(call, transaction), contents };
      const notes = await applyEntry(section, draft, scope);
      const published = await readTemplateVersion(transaction, accountId, templateId, 'published');
      if (published === undefined) throw new Error('the published version was not stored');
      await requireNoBrokenCallers(call, transaction, published.compiled);
      await requireKeptSecrets(call, transaction, published.compiled);
      await removeDraft(transaction, accountId, templateId);
      const { version } = published;
      await recordAudit(call, transaction, 'template_published', templateId, { version });
      return { version, notes: notes.filter((note) => note.startsWith('warning')) };
    });
  },
});

/**
 * The draft as an entry of a manifest.
 * @throws Problem if there is none, or the preconditions of the request don't hold
 */
async function readDraftEntry(call: OperationCall, kysely: DatabaseTransaction) {
  const { name, createdBy } = await requireTemplate(call, kysely);
  const draft = await draftOf(call).read(kysely);
  requirePreconditions(call.request, draft);
  if (draft === undefined) throw conflict('This template has no draft to publish');
  return { id: call.params.templateId, name, createdBy, ...usedContent(draft.content) };
}

export const rollBackTemplate = defineOperation({
  id: 'rollBackTemplate',
  summary: 'Roll back to an earlier version',
  description:
    'The draft doesn’t change. Recent callers are checked as when publishing. Send the ETag of the template in `If-Match` so you don’t undo a publication you haven’t seen.',
  body: StrictObject({
    version: Type.Integer({ minimum: 1 }),
    force: Force,
    revealedFields: RevealedFields,
  }),
  answer: PublishedView,
  status: 200,
  conditional: true,
  handle: (call) =>
    inTransaction(call, async (transaction) => {
      const { accountId, templateId } = call.params;
      requirePreconditions(call.request, await requireTemplate(call, transaction));
      const { version } = call.body;
      const row = await readTemplateVersion(transaction, accountId, templateId, version);
      if (row === undefined || row.trial)
        throw invalidField('version', 'must be a version of this template');
      await requireNoBrokenCallers(call, transaction, row.compiled);
      await requireKeptSecrets(call, transaction, row.compiled);
      await setPublishedVersion(transaction, { accountId, templateId }, version);
      await recordAudit(call, transaction, 'template_rolled_back', templateId, { version });
      return { version, notes: [] };
    }),
});

export const duplicateTemplate = defineOperation({
  id: 'duplicateTemplate',
  summary: 'Duplicate a template',
  description: 'Creates a new template with this content as its draft.',
  body: StrictObject({ id: TemplateSchema.properties.id, name: TemplateSchema.properties.name }),
  answer: TemplateView,
  status: 201,
  handle: (call) =>
    inTransaction(call, async (transaction) => {
      const { accountId } = call.params;
      const id = parseTemplateId(call.body.id);
      if (id === undefined) throw invalidField('id', 'must be 1 to 64 letters, digits, - and _');
      await requireTemplate(call, transaction);
      const { content } = await currentContent(call, transaction);
      if ((await readTemplateFacts(transaction, accountId, { id })).length > 0)
        throw conflict('A template with this ID already exists');
      const personId = personOf(actorOf(call));
      if (personId === undefined)
        throw forbidden('Templates need a user as creator, so API keys can’t create them');
      await saveTemplate(transaction, { accountId, id, name: call.body.name, createdBy: personId });
      await saveDraft(transaction, { accountId, templateId: id, content, personId });
      await recordAudit(call, transaction, 'template_created', id, {
        from: call.params.templateId,
      });
      const [created] = await readTemplateFacts(transaction, accountId, { id });
      if (created === undefined) throw notFound('template');
      return created;
    }),
});

/** The content of a draft or version, and how its markup is read. */
export interface ReadableContent {
  readonly content: VersionContent;
  readonly format: MarkupFormat;
}

/** The draft, or else the published version. */
export async function currentContent(
  call: OperationCall,
  transaction: DatabaseTransaction = call.kysely,
): Promise<ReadableContent> {
  const { accountId: id, templateId } = call.params;
  const draft = await readDraft(transaction, id, templateId);
  if (draft !== undefined)
    return { content: usedContent(draft.content as VersionContent), format: currentFormat };
  const row = await readTemplateVersion(transaction, id, templateId, 'published');
  if (row === undefined) throw conflict('The template has no content yet');
  return { content: contentOf(row), format: row.compiled.format };
}
