import { Type } from 'typebox';
import { Flag, NamedObject, StrictObject, Text } from '../../../base/values/common-schemas.ts';
import { currentFormat } from '../../../content/template/compiled-template.ts';
import { starterTemplates } from '../../../content/template/starters/starter-templates.ts';
import { notFound } from '../answer/problem.ts';
import { viewOf } from '../answer/view-of.ts';
import { accountOf, defineOperation } from '../operation.ts';
import { previewInThread } from './preview-threads.ts';
import { TemplateContentSchema, type VersionContent } from './template-views.ts';

const starterFacts = {
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  attachment: Flag('Whether requests should attach the document that the message mentions.'),
};

const StarterView = NamedObject('Starter', starterFacts);

export const listStarters = defineOperation({
  id: 'listStarters',
  summary: 'List starters',
  description: 'Ready-made templates to start from.',
  answer: StrictObject({ items: Type.Array(StarterView) }),
  handle: async (call) => ({
    items: starterTemplates(accountOf(call).name).map((starter) => viewOf(StarterView)(starter)),
  }),
});

export const getStarter = defineOperation({
  id: 'getStarter',
  summary: 'Get a starter',
  description: 'With the name of the account, and rendered with samples.',
  answer: NamedObject('StarterDetail', {
    ...starterFacts,
    content: TemplateContentSchema,
    html: Text('The HTML part, rendered with samples.'),
  }),
  async handle(call) {
    const { id: accountId, name } = accountOf(call);
    const found = starterTemplates(name).find(({ id }) => id === call.params.starterId);
    if (found === undefined) throw notFound('starter');
    const content = found.content as VersionContent;
    const { rendered } = await previewInThread(
      {
        content,
        format: currentFormat,
        values: {},
        locale: undefined,
        subjectLine: undefined,
        previewText: undefined,
      },
      accountId,
    );
    return { ...found, content, html: rendered?.html ?? '' };
  },
});
