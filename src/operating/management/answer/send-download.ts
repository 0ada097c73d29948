import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { TemplateId } from '../../../base/values/ids.ts';
import { findImageContents } from '../../../content/template/template-image-store.ts';
import { accountOf, type OperationCall } from '../operation.ts';
import { notFound } from './problem.ts';

/** Sends content that a user chose, always as a download, so that a browser never renders it. */
export function sendDownload(
  reply: FastifyReply,
  {
    filename,
    size,
    content,
  }: { readonly filename: string; readonly size: number; readonly content: AsyncIterable<Buffer> },
): void {
  reply
    .header('content-disposition', `attachment; filename*=utf-8''${encodeName(filename)}`)
    .header('content-length', size)
    .header('x-content-type-options', 'nosniff')
    .type('application/octet-stream')
    .send(Readable.from(content));
}

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

/** RFC 8187 section 3.2.1. */
function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
