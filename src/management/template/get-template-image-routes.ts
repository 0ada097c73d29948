import type { TemplateId } from '../../foundation/ids.ts';
import { findImageContents } from '../../template/template-image-store.ts';
import { notFound } from '../answer/problem.ts';
import { sendDownload } from '../answer/send-download.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';
import { requireTemplate } from './manage-templates-routes.ts';

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

/**
 * Sends an image of a template, of the given version or of any.
 * @throws Problem if the template has none with this content
 */
export async function sendImage(
  call: OperationCall,
  templateId: TemplateId,
  version?: number,
): Promise<undefined> {
  const { sha256 } = call.params;
  const accountId = accountOf(call).id;
  const { attachments, database } = call.dependencies;
  const owner = { accountId, templateId };
  const [found] = await findImageContents(database.kysely, owner, [sha256], version);
  if (found === undefined) throw notFound('image');
  const content = await attachments.open(accountId, sha256);
  if (content === undefined) throw notFound('image');
  sendDownload(call.reply, { filename: sha256, size: found.size, content });
  return undefined;
}
