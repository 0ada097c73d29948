import { type Static, Type } from 'typebox';
import { personOf } from '../../../accounts/access/principal.ts';
import { readMembers } from '../../../accounts/account/membership-store.ts';
import { findPersonByEmail } from '../../../accounts/account/person-store.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import { NamedObject, StrictObject, Time } from '../../../base/values/common-schemas.ts';
import type { PersonId } from '../../../base/values/ids.ts';
import {
  readCreator,
  readDraft,
  readTemplateFacts,
  readTemplateVersion,
  readVersionFacts,
  removeDraft,
  saveDraft,
  type TemplateFacts,
} from '../../../content/template/template-page-store.ts';
import { removeTemplate, saveTemplate } from '../../../content/template/template-store.ts';
import { TemplateSchema } from '../../manifest/manifest-schema.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { invalidField, notFound } from '../answer/problem.ts';
import { sendImage } from '../answer/send-download.ts';
import { accountOf, actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { requireResource } from '../save-resource.ts';
import { sampleValues } from './sample-values.ts';
import { resolveImages, storeUploads } from './store-images.ts';
import {
  contentOf,
  DraftContentSchema,
  DraftContentView,
  TemplateView,
  VersionDetailView,
  VersionView,
  viewFields,
} from './template-views.ts';

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
    body: StrictObject({
      name: TemplateSchema.properties.name,
      createdBy: Type.Optional(
        Type.String({
          description:
            'Email of a user of the account, used as the sender if neither the request nor the template names one. Default: who created it, or the caller.',
          maxLength: 320,
        }),
      ),
      whenUncertain: Type.Optional(TemplateView.properties.whenUncertain),
    }),
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

const DraftView = NamedObject('TemplateDraft', {
  content: DraftContentView,
  changedAt: Time('When it last changed.'),
});

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

export const listVersions = defineOperation({
  id: 'listVersions',
  summary: 'List the versions of a template, newest first',
  query: pageQuery({}),
  answer: pageOf(VersionView),
  async handle(call) {
    await requireTemplate(call);
    const limit = pageSizeOf(call.query);
    const [before] = readCursor(call.query, 'integer') ?? [];
    const { kysely } = call.dependencies.database;
    const rows = await readVersionFacts(kysely, accountOf(call).id, call.params.templateId, {
      before: before === undefined ? undefined : Number.parseInt(before, 10),
      limit: limit + 1,
    });
    return toPage(
      rows,
      limit,
      ({ version, published, createdAt, subject, locales }) => ({
        version,
        published,
        createdAt,
        subject,
        locales,
      }),
      ({ version }) => [String(version)],
    );
  },
});

export const getVersion = defineOperation({
  id: 'getVersion',
  summary: 'Get a template version with content and fields',
  answer: VersionDetailView,
  async handle(call) {
    const { templateId, version } = call.params;
    const { kysely } = call.dependencies.database;
    const row = await readTemplateVersion(kysely, accountOf(call).id, templateId, version);
    if (row === undefined) throw notFound('version');
    const content = contentOf(row);
    const { compiled } = row;
    const examples = sampleValues({ compiled, fields: compiled.fields }, content);
    return {
      version: row.version,
      published: row.published,
      createdAt: row.createdAt,
      subject: row.source.subject,
      locales: [...(compiled.locales ?? [])],
      content,
      fields: viewFields(compiled.fields, row.source.fields, examples),
    };
  },
});

export const getTemplateImage = defineOperation({
  id: 'getTemplateImage',
  summary: 'Download an image of a template',
  description: 'The draft or a version of the template must have it. Its name and type are there.',
  produces: 'application/octet-stream',
  async handle(call) {
    await requireTemplate(call);
    return sendImage(call, call.params.templateId);
  },
});
