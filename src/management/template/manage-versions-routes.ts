import { readTemplateVersion, readVersionFacts } from '../../template/template-page-store.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { notFound } from '../answer/problem.ts';
import { accountOf, defineOperation } from '../operation.ts';
import { requireTemplate } from './manage-templates-routes.ts';
import { sampleValues } from './sample-values.ts';
import { contentOf, VersionDetailView, VersionView } from './template-views.ts';
import { viewFields } from './view-fields.ts';

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
