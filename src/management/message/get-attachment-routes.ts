import { Readable } from 'node:stream';
import { notFound } from '../answer/problem.ts';
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
    // Always a download, so that a browser never renders content that a sender chose.
    call.reply
      .header('content-disposition', `attachment; filename*=utf-8''${encodeName(info.filename)}`)
      .header('content-length', info.size)
      .header('x-content-type-options', 'nosniff')
      .type('application/octet-stream')
      .send(Readable.from(content));
    return undefined;
  },
});

/** RFC 8187 section 3.2.1. */
function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
