import { type Static, Type } from 'typebox';
import { personOf } from '../../../accounts/access/principal.ts';
import { readMembers } from '../../../accounts/account/membership-store.ts';
import { findPersonByEmail } from '../../../accounts/account/person-store.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import {
  NamedObject,
  OptionalText,
  StrictObject,
  Time,
} from '../../../base/values/common-schemas.ts';
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
import { definePages } from '../answer/list-operations.ts';
import { invalidField, notFound } from '../answer/problem.ts';
import { sendImage } from '../answer/send-download.ts';
import { viewOf } from '../answer/view-of.ts';
import { actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { resourceOf, resourceRoutes } from '../resource-routes.ts';
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

const templateOf = resourceOf({
  kind: 'template',
  id: 'templateId',
  async read(transaction, { params: { accountId, templateId } }) {
    const [found] = await readTemplateFacts(transaction, accountId, { id: templateId });
    return found;
  },
});

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
      contains: OptionalText('Part of the name or ID, case-insensitive.', { maxLength: 200 }),
    },
    key: 'id',
    read: (call, page) =>
      readTemplateFacts(call.kysely, call.params.accountId, {
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
      createdBy: OptionalText(
        'Email of a user of the account, used as the sender if neither the request nor the template names one. Default: who created it, or the caller.',
        { maxLength: 320 },
      ),
      whenUncertain: Type.Optional(TemplateView.properties.whenUncertain),
    }),
    write: (call) => async (transaction) => {
      const { accountId, templateId: id } = call.params;
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
      removeTemplate(transaction, call.params.accountId, call.params.templateId),
  },
});

async function creatorFor(
  transaction: DatabaseTransaction,
  call: OperationCall<unknown, { readonly createdBy?: string }>,
): Promise<PersonId> {
  const { accountId } = call.params;
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

export const draftOf = resourceOf({
  kind: 'template_draft',
  unrecorded: ['content', 'changedAt'],
  id: 'templateId',
  async read(transaction, { params: { accountId, templateId } }) {
    const draft = await readDraft(transaction, accountId, templateId);
    if (draft === undefined) return undefined;
    const content = draft.content as Static<typeof DraftContentView>;
    return { content, changedAt: draft.changedAt };
  },
});

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
          accountId: call.params.accountId,
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
      removeDraft(transaction, call.params.accountId, call.params.templateId),
  },
});

export const listVersions = definePages({
  id: 'listVersions',
  summary: 'List the versions of a template, newest first',
  item: VersionView,
  cursor: ['integer'],
  async read(call, { after, limit }) {
    await requireTemplate(call);
    const { accountId, templateId } = call.params;
    const before = after && Number.parseInt(after[0], 10);
    return readVersionFacts(call.kysely, accountId, templateId, { before, limit });
  },
  view: (version) => viewOf(VersionView)(version),
  place: ({ version }) => [String(version)],
});

export const getVersion = defineOperation({
  id: 'getVersion',
  summary: 'Get a template version with content and fields',
  answer: VersionDetailView,
  async handle(call) {
    const { templateId, version } = call.params;
    const { kysely } = call;
    const row = await readTemplateVersion(kysely, call.params.accountId, templateId, version);
    if (row === undefined) throw notFound('version');
    const content = contentOf(row);
    const { compiled } = row;
    const examples = sampleValues({ compiled, fields: compiled.fields }, content);
    return viewOf(VersionDetailView)({
      ...row,
      subject: row.source.subject,
      locales: compiled.locales ?? [],
      content,
      fields: viewFields(compiled.fields, row.source.fields, examples),
    });
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
