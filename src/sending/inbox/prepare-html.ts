import { mailJob } from '../../base/mime/mail-threads.ts';
import { Busy } from '../../base/values/errors.ts';

/** A link in a message: its text and target. */
export interface MailLink {
  readonly label: string;
  readonly href: string;
}

/** The HTML part, prepared for display, and what was found in it. */
export interface PreparedHtml {
  readonly html: string;
  readonly links: readonly MailLink[];
  /** Number of remote images and other resources; the page loads none of them. */
  readonly remoteLoads: number;
}

const prepare = mailJob<{ readonly source: Buffer }, PreparedHtml>(
  'prepare-html-job',
  import.meta.url,
);

/**
 * Makes links in the HTML part open in new tabs, removes what could only load or run something, and lists the links. HTML that
 * takes too long stays as it is: the frame's sandbox and Content-Security-Policy are the security measure.
 * @throws Busy if too many wait
 */
export async function prepareHtml(html: string): Promise<PreparedHtml> {
  try {
    return await prepare({ source: Buffer.from(html) }, { group: 'inbox' });
  } catch (error) {
    if (error instanceof Busy) throw error;
    return { html, links: [], remoteLoads: 0 };
  }
}
