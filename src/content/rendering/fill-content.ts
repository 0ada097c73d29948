import { Limiter } from '../../base/fairness/limiter.ts';
import { policies } from '../../base/fairness/policies.ts';
import { mailJob } from '../../base/mime/mail-threads.ts';
import { ThreadOverrun } from '../../base/threads/thread-pool.ts';
import type { FaultDetail } from '../../base/values/errors.ts';
import { RenderedMail } from './render-message.ts';

/** Subject and bodies of a message that isn't made from a stored template. It has HTML, text or both. */
export interface MessageTexts {
  readonly subject: string;
  readonly html?: string | undefined;
  readonly text?: string | undefined;
}

/** Such texts with placeholders, as templates have them, and the values for these. */
export interface ContentToFill extends MessageTexts {
  readonly values: Readonly<Record<string, string>>;
  /** The language of dates and numbers (BCP 47, canonical). */
  readonly locale?: string | undefined;
}

/** Null: it has none. */
export interface FilledTexts {
  readonly kind: 'filled';
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
}

export type FilledContent =
  | FilledTexts
  /** It can't be compiled, or a helper can't read a value. */
  | { readonly kind: 'invalid'; readonly problems: readonly FaultDetail[] }
  /** Members without which it can't be filled. */
  | { readonly kind: 'incomplete'; readonly missing: readonly string[] }
  /** Values make it too large, or aren't allowed where they are used. */
  | { readonly kind: 'unusable'; readonly problems: readonly FaultDetail[] };

const fill = mailJob<{ readonly source: Buffer }, FilledContent>(
  'fill-content-job',
  import.meta.url,
);

const slots = new Limiter(policies.personalizedMessages);

/**
 * Fills the placeholders of a request's content as a template's, in a thread with limits that accounts share fairly: some
 * sources keep the compiler busy for minutes.
 * @param group its account
 * @throws Busy if too many wait
 */
export async function fillContent(content: ContentToFill, group: string): Promise<FilledContent> {
  const source = Buffer.from(JSON.stringify(content));
  try {
    return await slots.run(group, () => fill({ source }, { group, patient: true }));
  } catch (error) {
    if (!(error instanceof ThreadOverrun)) throw error;
    const reason = `takes too much ${error.of} to personalize; make it simpler, or send it with literal: true`;
    return { kind: 'invalid', problems: [{ field: 'content', reason }] };
  }
}

/** A message with these texts; their line breaks are line feeds. */
export function renderTexts({ subject, html, text }: FilledTexts): RenderedMail {
  const pieces = (body: string | null) => (body === null ? null : [body.replace(/\r\n?/g, '\n')]);
  return new RenderedMail(subject, pieces(html), pieces(text), []);
}
