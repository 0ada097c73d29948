import { findImageContents } from '../../template/template-image-store.ts';
import { notFound } from '../answer/problem.ts';
import { sendDownload } from '../answer/send-download.ts';
import { accountOf, defineOperation } from '../operation.ts';
import { requireTemplate } from './manage-templates-routes.ts';

export const getTemplateImage = defineOperation({
  id: 'getTemplateImage',
  summary: 'Download an image of a template',
  description: 'The draft or a version of the template must have it. Its name and type are there.',
  produces: 'application/octet-stream',
  async handle(call) {
    await requireTemplate(call);
    const { templateId, sha256 } = call.params;
    const accountId = accountOf(call).id;
    const { attachments, database } = call.dependencies;
    const [found] = await findImageContents(database.kysely, { accountId, templateId }, [sha256]);
    if (found === undefined) throw notFound('image');
    const content = await attachments.open(accountId, sha256);
    if (content === undefined) throw notFound('image');
    sendDownload(call.reply, { filename: sha256, size: found.size, content });
    return undefined;
  },
});
