import type { EmailAddress } from '../../base/values/email-address.ts';
import type { AccountId, TemplateId } from '../../base/values/ids.ts';
import {
  erasedAddress,
  type MessageContent,
  visibleCc,
} from '../../content/message/message-content.ts';
import type { EncodedAttachment } from '../../content/rendering/compose-attachments.ts';
import { type ComposedMessage, composeMime } from '../../content/rendering/compose-mime.ts';
import { customHeaders } from '../../content/rendering/custom-header.ts';
import type { LoadedTemplate } from '../../content/rendering/load-template.ts';
import type { RewriteLink } from '../../content/rendering/render-body.ts';
import { renderMessage } from '../../content/rendering/render-message.ts';
import type { HtmlTracking } from '../../content/rendering/track-html-parts.ts';
import type { GivenValues } from '../../content/template/field-value.ts';
import type { AttemptNote, ClaimedMessage } from '../queue/attempt.ts';

/** Finds the content of a template version for a message's locale; without one, the default content. */
export type FindVersion = (
  accountId: AccountId,
  templateId: TemplateId,
  version: number,
  locale: string | undefined,
) => Promise<LoadedTemplate | undefined> | LoadedTemplate | undefined;

/** What feedback adds to a message: tracking links, an open pixel, list headers, values of built-in and guarded fields. */
export interface MailDecoration {
  readonly rewriteLink?: RewriteLink | undefined;
  readonly bodyEnd?: string | undefined;
  readonly headerLines?: readonly string[] | undefined;
  readonly values?: GivenValues | undefined;
  /** Tracking of a message that was submitted complete. */
  readonly htmlTracking?: HtmlTracking | undefined;
}

/** Creates a message's decoration; deterministic, so every attempt gets the same one. A raw message has no template. */
export type DecorateMail = (
  message: ClaimedMessage,
  content: MessageContent,
  template: LoadedTemplate | undefined,
) => Promise<MailDecoration> | MailDecoration;

export interface PreparedMail {
  readonly mail: ComposedMessage;
  readonly notes: readonly AttemptNote[];
}

/** Header with the original recipients of a message redirected by DELIVERY_REDIRECT. */
export const redirectHeader = 'X-Signalpost-Original-To';

/** The Cc addresses without those that were erased or became suppressed before the first attempt, which keep their numbers. */
function withoutSkipped(
  cc: readonly EmailAddress[],
  suppressed: readonly EmailAddress[] = [],
): readonly EmailAddress[] {
  return cc.filter((address) => address !== erasedAddress && !suppressed.includes(address));
}

/** Renders and composes a message. The output depends only on the message, so every attempt produces the same bytes. */
export function prepareMail(
  message: ClaimedMessage,
  content: MessageContent,
  template: LoadedTemplate,
  redirected: boolean,
  decoration: MailDecoration = {},
  attachments?: readonly EncodedAttachment[],
): PreparedMail {
  const rendered = renderMessage(template, {
    values: { ...content.values, ...decoration.values },
    rewriteLink: decoration.rewriteLink,
    bodyEnd: decoration.bodyEnd,
    subjectLine: content.subjectLine,
    previewText: content.previewText,
    locale: content.locale,
  });
  const { from, replyTo, to, toName, headers, suppressedCc } = content;
  const cc = withoutSkipped(visibleCc(content), suppressedCc);
  const mail = composeMime(
    rendered,
    {
      from: { address: from.address, displayName: from.name },
      replyTo: replyTo === undefined ? [] : [{ address: replyTo }],
      to: [{ address: to, displayName: toName }],
      cc: cc.map((address) => ({ address })),
    },
    {
      messageId: message.messageId,
      acceptedAt: message.acceptedAt,
      headers: redirected ? [[redirectHeader, [to, ...cc].join(', ')]] : [],
      headerLines: [...customHeaders(headers), ...(decoration.headerLines ?? [])],
    },
    attachments,
  );
  const notes = rendered.warnings.map((warning) => ({
    kind: 'warning' as const,
    detail: { code: warning.code, field: warning.field, message: warning.message },
  }));
  return { mail, notes };
}
