import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

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

/** RFC 8187 section 3.2.1. */
function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
