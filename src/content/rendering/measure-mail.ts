import { type MessageContent, visibleCc } from '../message/message-content.ts';
import type { CompiledTemplate } from '../template/compiled-template.ts';
import { composeMime } from './compose-mime.ts';
import { customHeaders } from './custom-header.ts';
import { type LoadedTemplate, loadTemplate } from './load-template.ts';
import { renderMessage } from './render-message.ts';
import { RenderingTooLarge } from './rendering-too-large.ts';

/** Enough for headers of feedback, signatures and the outer parts of attachments. */
const headerAllowance = 8 * 1_024;
/** Max characters that a tracking link adds to its target. */
const linkAllowance = 1_024;

/** A template whose messages can be measured before they are sent. */
export interface MeasurableTemplate extends LoadedTemplate {
  /** Max bytes of a message as sent, without attachments. @param tracked tracking may replace its links */
  readonly measure: (content: MessageContent, tracked: boolean) => number;
}

/** Loads a template for sending and measuring. */
export function loadMeasurable(compiled: CompiledTemplate): MeasurableTemplate {
  const loaded = loadTemplate(compiled);
  const measure = (content: MessageContent, tracked: boolean): number => {
    try {
      return composedLength(loaded, content, tracked) + headerAllowance;
    } catch (error) {
      if (error instanceof RenderingTooLarge) return Number.POSITIVE_INFINITY;
      throw error;
    }
  };
  return Object.assign(loaded, { measure });
}

function composedLength(
  template: LoadedTemplate,
  content: MessageContent,
  tracked: boolean,
): number {
  const { from, replyTo, to, toName, headers, values, subjectLine, previewText, locale } = content;
  // A list shows its links once for each item.
  let links = 0;
  const countLink = (_: unknown, url: string): string => {
    links += 1;
    return url;
  };
  const rewriteLink = tracked ? countLink : undefined;
  const { raw } = composeMime(
    renderMessage(template, { values, locale, subjectLine, previewText, rewriteLink }),
    {
      from: { address: from.address, displayName: from.name },
      replyTo: replyTo === undefined ? [] : [{ address: replyTo }],
      to: [{ address: to, displayName: toName }],
      cc: visibleCc(content).map((address) => ({ address })),
    },
    {
      messageId: '0'.repeat(36),
      acceptedAt: new Date(0),
      headerLines: customHeaders(headers),
    },
  );
  return raw.length + links * linkAllowance;
}
