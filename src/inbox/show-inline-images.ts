import { mailJob } from '../foundation/mime/mail-threads.ts';
import type { CapturedMessage } from './inbox-message.ts';
import { showInlineImagesJob } from './show-inline-images-job.ts';

const insertImages = mailJob<{ readonly html: string; readonly source: Buffer }, string>(
  'show-inline-images-job',
  import.meta.url,
  showInlineImagesJob,
);

/**
 * The HTML part for display: with the message's own images instead of references to them.
 * @returns the HTML as it is where it refers to none, or the message can't be read
 */
export async function showInlineImages({
  html,
  source,
}: Pick<CapturedMessage, 'html' | 'source'>): Promise<string | null> {
  if (html === null || !/cid:/i.test(html)) return html;
  return insertImages({ html, source }, { group: 'inbox' }).catch(() => html);
}
