import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { csvLine } from '../../../base/values/csv-line.ts';
import type { TemplateId } from '../../../base/values/ids.ts';
import { findImageContents } from '../../../content/template/template-image-store.ts';
import type { OperationCall } from '../operation.ts';
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
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('cross-origin-resource-policy', 'same-origin')
    .type('application/octet-stream')
    .send(Readable.from(content));
}

/** Sends a file that the service writes, in parts so that it needs no memory. */
export function sendExport(
  { reply }: Pick<OperationCall, 'reply'>,
  filename: string,
  content: string | Readable | AsyncIterable<string>,
): void {
  const type = filename.endsWith('.csv') ? 'text/csv' : 'application/x-ndjson';
  reply
    .header('content-disposition', `attachment; filename="${filename}"`)
    .type(`${type}; charset=utf-8`)
    .send(
      typeof content === 'string' || content instanceof Readable ? content : Readable.from(content),
    );
}

/** Lines of an export, so that it ends. */
export const maxExported = 100_000;
const exportedPerPage = 500;

/** A page of an export, and where the next one starts; undefined at the end. */
interface ExportPage<Line, Place> {
  readonly lines: readonly Line[];
  readonly next: Place | undefined;
}

/**
 * Sends a CSV file page by page to bound memory.
 * @param columns the value of each column in a line
 */
export async function sendPages<Line, Place>(
  call: OperationCall,
  filename: string,
  columns: Readonly<Record<string, (line: Line) => string | number | null>>,
  readPage: (before: Place | undefined, limit: number) => Promise<ExportPage<Line, Place>>,
): Promise<void> {
  // Errors of the filter are answered before the file begins.
  const first = await readPage(undefined, exportedPerPage);
  async function* write(): AsyncGenerator<string> {
    yield csvLine(Object.keys(columns));
    let page = first;
    for (let left = maxExported; ; ) {
      yield page.lines
        .map((line) => csvLine(Object.values(columns).map((column) => column(line))))
        .join('');
      left -= page.lines.length;
      if (page.next === undefined || left <= 0) return;
      // The caller may have lost the permission in the meantime.
      await call.reauthorize();
      page = await readPage(page.next, Math.min(left, exportedPerPage));
    }
  }
  sendExport(call, filename, write());
}

/**
 * Sends an image of a template, of the given version or of any.
 * @throws Problem if the template has none with this content
 */
export async function sendImage(
  call: OperationCall,
  templateId: TemplateId,
  version?: number,
): Promise<void> {
  const { accountId, sha256 } = call.params;
  const { attachments } = call.dependencies;
  const owner = { accountId, templateId };
  const [found] = await findImageContents(call.kysely, owner, [sha256], version);
  if (found === undefined) throw notFound('image');
  const content = await attachments.open(accountId, sha256);
  if (content === undefined) throw notFound('image');
  sendDownload(call.reply, { filename: sha256, size: found.size, content });
}

/** RFC 8187 section 3.2.1. */
function encodeName(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
