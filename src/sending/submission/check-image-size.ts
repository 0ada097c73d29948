import { Fault } from '../../base/values/errors.ts';
import { withoutReplaced } from '../../content/message/attachment.ts';
import { attachmentPartLength } from '../../content/message/attachment-part.ts';
import { boundPartBytes } from '../../content/template/size-bounds.ts';
import { MAX_LIST_ITEMS } from '../../content/template/template-limits.ts';
import { formatBytes } from '../../host/http/limits/route-limits.ts';
import { composeContent } from './compose-row.ts';
import type { SendableTemplate } from './send-dependencies.ts';
import type { ParsedSendRequest } from './send-request.ts';

/** Two parts, each encoded with up to three characters for a byte and soft line breaks. */
const maxEncodedParts = 2 * 3.2;
/** Headers, custom ones included, and the outer parts. */
const maxHeaderBytes = 64 * 1_024;
/** Characters that a tracking link adds. */
const maxLinkBytes = 1_024;

/**
 * Bytes of the message as sent without the request's attachments. The sender isn't known yet, but headers hardly count.
 */
export function measureWithImages(template: SendableTemplate, request: ParsedSendRequest): number {
  const from = { address: request.to };
  const content = composeContent(request, { from, replyTo: request.replyTo }, undefined);
  const rest = template.measure(content, request.trackOpens || request.trackClicks);
  return rest + imageBytes(template, request);
}

/**
 * Rejects a message that is larger than the account's limit only because of its template's images. Messages of ordinary
 * size aren't rendered for this.
 * @param limit max bytes of a message with attachments as sent; 0, which is for requests alone, doesn't count
 * @throws Fault VALIDATION_FAILED
 */
export function checkImageSize(
  template: SendableTemplate,
  request: ParsedSendRequest,
  limit: number,
  bodyLength: number,
): void {
  if (limit === 0) return;
  const { compiled, size } = template;
  const partBytes = boundPartBytes(compiled, size, request.values, bodyLength);
  const links = request.trackClicks ? compiled.links.length * maxLinkBytes : 0;
  const linkBytes = size.perItem === undefined ? links : links * MAX_LIST_ITEMS;
  const bound =
    imageBytes(template, request) + (partBytes + linkBytes) * maxEncodedParts + maxHeaderBytes;
  if (bound <= limit || measureWithImages(template, request) <= limit) return;
  const reason = `its images make the message larger than ${formatBytes(limit)} as sent; publish it with smaller images, or send shorter values`;
  throw new Fault('VALIDATION_FAILED', { details: [{ field: 'templateId', reason }] });
}

function imageBytes(
  { compiled: { images = [] } }: SendableTemplate,
  { attachments }: ParsedSendRequest,
): number {
  return withoutReplaced(images, attachments).reduce(
    (sum, image) => sum + attachmentPartLength(image),
    0,
  );
}
