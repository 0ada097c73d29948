import type { TemplateId } from '../../../base/values/ids.ts';
import { notFound } from '../answer/problem.ts';
import { sendDownload, sendImage } from '../answer/send-download.ts';
import { defineOperation } from '../operation.ts';
import { requireMessage } from './manage-messages-routes.ts';

export const getMessageAttachment = defineOperation({
  id: 'getMessageAttachment',
  summary: 'Download an attachment of a message',
  description: 'Its name and type are in the message’s content.',
  produces: 'application/octet-stream',
  async handle(call) {
    const { message } = await requireMessage(call);
    const info = message.content?.attachments?.[call.params.attachment - 1];
    if (info === undefined) throw notFound('attachment');
    const { attachments } = call.dependencies;
    const content = await attachments.open(call.params.accountId, info.sha256);
    if (content === undefined) throw notFound('attachment');
    sendDownload(call.reply, { filename: info.filename, size: info.size, content });
  },
});

export const getMessageImage = defineOperation({
  id: 'getMessageImage',
  summary: 'Download an image of a message’s template',
  description:
    'An image of the template version that the message was sent with, also if the template was deleted.',
  produces: 'application/octet-stream',
  async handle(call) {
    const { template_id: templateId, template_version: version } = (await requireMessage(call))
      .message;
    return sendImage(call, templateId as TemplateId, version);
  },
});
