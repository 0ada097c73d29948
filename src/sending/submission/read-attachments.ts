import type { FaultDetail } from '../../base/values/errors.ts';
import type { BodyJson, DecodedBytes } from './read-body-json.ts';
import type { SendBody } from './send-body-schema.ts';

/** An attachment of a request; its content isn't decoded yet. */
export interface RequestedAttachment {
  /** As in error details: `content.attachments[0]`. */
  readonly field: string;
  readonly filename: string;
  readonly contentType: string;
  readonly contentId: string | undefined;
  /** As characters, or as their bytes if the body was large; or what has been decoded already. */
  readonly base64: string | Buffer | DecodedBytes;
}

type AttachmentBody = NonNullable<NonNullable<SendBody['content']>['attachments']>[number];

const none: readonly RequestedAttachment[] = Object.freeze([]);

/** RFC 2045 section 5.1, with parameters whose values are tokens. */
const typePattern =
  /^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(; ?[a-z0-9_.-]+=[a-z0-9_.:+-]+)*$/i;
/** RFC 2046 sections 5.1 and 5.2.1: these can't be in base64. */
const structuredTypes = /^(multipart|message)\//i;
/** Parts of RFC 5322's msg-id that need no quoting. */
export const contentIdPattern = /^[\w!#$%&'*+/=?^`{|}~.-]+(@[\w!#$%&'*+/=?^`{|}~.-]+)?$/;
/** Control characters, path separators, and those that turn the direction of text (`exe.pdf` for `fdp.exe`). */
export const unsafeName = /[\p{Cc}\p{Zl}\p{Zp}/\\\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** Checks everything but contents. @param contents of a large body by placeholder */
export function readAttachments(
  list: readonly AttachmentBody[] | undefined,
  contents: BodyJson['contents'],
  details: FaultDetail[],
): readonly RequestedAttachment[] {
  if (list === undefined || list.length === 0) return none;
  const ids = new Set<string>();
  return list.map((attachment, index) => {
    const field = `content.attachments[${index}]`;
    const { filename, contentType, content } = attachment;
    const contentId = attachment.contentId === '' ? undefined : attachment.contentId;
    const report = (name: string, reason: string): void => {
      details.push({ field: `${field}.${name}`, reason });
    };
    if (filename.trim() === '') report('filename', 'must not be blank');
    if (unsafeName.test(filename))
      report('filename', 'must not contain slashes, control or direction characters');
    if (!typePattern.test(contentType))
      report('contentType', 'is not a media type such as application/pdf');
    else if (structuredTypes.test(contentType))
      report('contentType', 'can’t be attached; use application/octet-stream');
    if (contentId !== undefined) {
      if (!contentIdPattern.test(contentId))
        report('contentId', 'must be ASCII letters, digits and . _ - without spaces or brackets');
      if (ids.has(contentId)) report('contentId', 'is used by another attachment');
      ids.add(contentId);
    }
    return { field, filename, contentType, contentId, base64: contents?.get(content) ?? content };
  });
}
