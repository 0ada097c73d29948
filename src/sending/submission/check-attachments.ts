import type { Account } from '../../accounts/account/account.ts';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import type { AttachmentInfo } from '../../content/message/attachment.ts';
import { attachmentPartLength } from '../../content/message/attachment-part.ts';
import type { AttachmentContent } from '../../content/message/attachment-store.ts';
import { formatBytes } from '../../host/http/limits/route-limits.ts';
import { type AttachmentRules, findRefusal } from './attachment-types.ts';
import { type DecodedContent, decodeBase64, hashInPieces } from './decode-base64.ts';
import type { RequestedAttachment } from './read-attachments.ts';

/** The installation's settings. */
export interface AttachmentSettings {
  /** Max bytes of a message with attachments as sent, for accounts without their own limit; 0: none. */
  readonly limit: number;
  readonly rules: AttachmentRules;
}

/** Attachments that passed every check. */
export interface CheckedAttachments {
  readonly infos: readonly AttachmentInfo[];
  /** Distinct ones. */
  readonly contents: readonly AttachmentContent[];
}

export function attachmentLimitOf(
  { attachmentLimit }: Pick<Account, 'attachmentLimit'>,
  { limit }: AttachmentSettings,
): number {
  return attachmentLimit ?? limit;
}

/**
 * Decodes and checks the attachments of a request.
 * @param limit max bytes of the message as sent
 * @param measureRest bytes of the message as sent without its attachments
 * @throws Fault VALIDATION_FAILED with every problem found
 */
export async function checkAttachments(
  requested: readonly RequestedAttachment[],
  limit: number,
  rules: AttachmentRules,
  measureRest: () => number,
): Promise<CheckedAttachments> {
  if (limit === 0) throw invalid([{ field: 'content.attachments', reason: notAllowed }]);
  const details: FaultDetail[] = [];
  const infos: AttachmentInfo[] = [];
  const contents = new Map<string, AttachmentContent>();
  let size = 0;
  for (const { field, filename, contentType, contentId, base64 } of requested) {
    const decoded = await decodeContent(base64);
    if (decoded === undefined || decoded.content.length === 0) {
      const reason = decoded === undefined ? notBase64 : 'must not be empty';
      details.push({ field: `${field}.content`, reason });
      continue;
    }
    const { content, sha256 } = decoded;
    const type = contentType.split(';', 1)[0]?.toLowerCase() ?? '';
    const refusal = findRefusal(rules, filename, type, content);
    if (refusal !== undefined) details.push({ field, reason: refusal });
    const info = { filename, contentType, contentId, size: content.length, sha256 };
    infos.push(
      contentId === undefined
        ? { filename, contentType, size: info.size, sha256 }
        : { ...info, contentId },
    );
    contents.set(sha256, { sha256, content });
    size += attachmentPartLength(info);
  }
  if (details.length > 0) throw invalid(details);
  if (size + measureRest() > limit) {
    const reason = `makes the message larger than ${formatBytes(limit)} as sent, base64 and texts included; send smaller files or links to them`;
    throw invalid([{ field: 'content.attachments', reason }]);
  }
  return { infos, contents: [...contents.values()] };
}

async function decodeContent(
  base64: RequestedAttachment['base64'],
): Promise<DecodedContent | undefined> {
  if (typeof base64 === 'string' || Buffer.isBuffer(base64)) return decodeBase64(base64);
  const content = base64.decoded;
  const sha256 = Buffer.from(await hashInPieces([content]), 'latin1').toString('hex');
  return { content, sha256 };
}

const notAllowed = 'the account can’t send attachments; an operator can set its attachmentLimit';
const notBase64 = 'is not base64 (RFC 4648, with padding and without line breaks)';

function invalid(details: readonly FaultDetail[]): Fault {
  return new Fault('VALIDATION_FAILED', { details });
}
