import { notFound } from '../answer/problem.ts';
import { sendDownload } from '../answer/send-download.ts';
import { accountOf, defineOperation } from '../operation.ts';
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
    const content = await attachments.open(accountOf(call).id, info.sha256);
    if (content === undefined) throw notFound('attachment');
    sendDownload(call.reply, { filename: info.filename, size: info.size, content });
    return undefined;
  },
});
