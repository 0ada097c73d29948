import type { MessageContent } from '../message/message-content.ts';
import type { CompiledTemplate } from '../template/compiled-template.ts';
import { composeMime } from './compose-mime.ts';
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
      const links = tracked ? compiled.links.length * linkAllowance : 0;
      return composedLength(loaded, content) + headerAllowance + links;
    } catch (error) {
      if (error instanceof RenderingTooLarge) return Number.POSITIVE_INFINITY;
      throw error;
    }
  };
  return Object.assign(loaded, { measure });
}

function composedLength(template: LoadedTemplate, content: MessageContent): number {
  const { from, replyTo, to, cc } = content;
  const { raw } = composeMime(
    renderMessage(template, content),
    { from: { address: from.address, displayName: from.name }, replyTo, to, cc },
    { messageId: '0'.repeat(36), acceptedAt: new Date(0) },
  );
  return raw.length;
}
