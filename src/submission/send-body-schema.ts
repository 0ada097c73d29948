import { type Static, Type } from 'typebox';
import { maxAttachments } from '../message/attachment.ts';
import { maxCc, maxPreviewLength, maxSubjectLength } from '../message/message-content.ts';

/** Longer than any address (RFC 5321 section 4.5.3.1.3); syntax is checked later. */
const maxAddress = 320;
/** Far longer than any name that can be registered. */
const maxName = 1_000;

const strict = { additionalProperties: false } as const;

const envelope = Type.Object(
  {
    toAddress: Type.String({ description: 'Recipient.', maxLength: maxAddress }),
    ccAddressList: Type.Optional(
      Type.Array(Type.String({ maxLength: maxAddress }), {
        maxItems: maxCc,
        description: 'Addresses of the Cc header.',
      }),
    ),
    fromAddress: Type.Optional(
      Type.String({
        description:
          'A verified sender. Default: the sender selected in the template, otherwise the template creator.',
        maxLength: maxAddress,
      }),
    ),
    fromDisplayName: Type.Optional(
      Type.String({
        description: 'A name registered for that sender. Default: the first registered one.',
        maxLength: maxName,
      }),
    ),
    replyToAddress: Type.Optional(
      Type.String({
        description: 'A verified sender. Default: the value of fromAddress.',
        maxLength: maxAddress,
      }),
    ),
  },
  strict,
);

const attachment = Type.Object(
  {
    filename: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Shown to the recipient; any letters, but no slashes.',
    }),
    contentType: Type.String({
      minLength: 1,
      maxLength: 127,
      description: 'Media type, such as `application/pdf`.',
    }),
    content: Type.String({
      minLength: 1,
      description: 'Base64 (RFC 4648) with padding and without line breaks.',
    }),
    contentId: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Makes it an inline part that the template’s HTML shows as `cid:…`.',
      }),
    ),
  },
  { ...strict, title: 'Attachment' },
);

const content = Type.Object(
  {
    subjectLine: Type.Optional(
      Type.String({ maxLength: maxSubjectLength, description: 'Default: the template’s subject.' }),
    ),
    personalizationDataMap: Type.Optional(
      // Not a pattern record: `.` would exclude keys with a line break.
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Values by name of the template’s personalization fields.',
      }),
    ),
    previewText: Type.Optional(
      Type.String({
        maxLength: maxPreviewLength,
        description: 'Default: the template’s preview text.',
      }),
    ),
    attachments: Type.Optional(
      Type.Array(attachment, {
        maxItems: maxAttachments,
        description:
          'Files sent with the message. With them, the request can be as large as the account’s attachment limit, which counts the message as sent.',
      }),
    ),
  },
  strict,
);

const metadata = Type.Object(
  {
    transactional: Type.Optional(
      Type.Boolean({
        description:
          'Transactional email in the legal sense; needs the transactional add-on. Default: false.',
      }),
    ),
    externalId: Type.Optional(
      Type.String({ maxLength: 128, description: 'Identifier from the caller’s own system.' }),
    ),
    tagList: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 48 }), {
        maxItems: 1,
        description: 'Groups the reports of messages sent from one template.',
      }),
    ),
  },
  strict,
);

const actions = Type.Object(
  {
    trackOpens: Type.Boolean(),
    trackClicks: Type.Boolean(),
    deliveryWhenDelayed: Type.Optional(
      Type.String({
        pattern: '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|)$',
        description:
          '`TRUE` or `FALSE` in any case. `FALSE`: not delivered later than the template’s freshness window. Default: `TRUE`.',
      }),
    ),
  },
  strict,
);

/**
 * The send body (section 2.2): single source of its validation, type and documentation. Lengths count Unicode code
 * points. An optional `""` is treated as absent.
 */
export const sendBodySchema = Type.Object(
  {
    envelope,
    content: Type.Optional(content),
    metadata: Type.Optional(metadata),
    actions,
  },
  strict,
);

export type SendBody = Static<typeof sendBodySchema>;
