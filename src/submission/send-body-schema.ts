import { type Static, Type } from 'typebox';
import { StringMap } from '../foundation/common-schemas.ts';
import {
  maxAttributeName,
  maxAttributes,
  maxAttributeValue,
  maxBcc,
  maxCc,
  maxPreviewLength,
  maxSubjectLength,
} from '../message/message-content.ts';
import { maxCustomHeaders, maxHeaderName, maxHeaderValue } from './custom-headers.ts';

/** Longer than any address (RFC 5321 section 4.5.3.1.3); syntax is checked later. */
const maxAddress = 320;
/** Far longer than any name that can be registered. */
const maxName = 1_000;
/** As long as the name of a sender. */
const maxRecipientName = 200;

const strict = { additionalProperties: false } as const;

const envelope = Type.Object(
  {
    toAddress: Type.String({ description: 'Recipient.', maxLength: maxAddress }),
    toDisplayName: Type.Optional(
      Type.String({
        description: 'The recipient’s name in the To header. Default: only the address.',
        maxLength: maxRecipientName,
      }),
    ),
    ccAddressList: Type.Optional(
      Type.Array(Type.String({ maxLength: maxAddress }), {
        maxItems: maxCc,
        description: 'Addresses of the Cc header.',
      }),
    ),
    bccAddressList: Type.Optional(
      Type.Array(Type.String({ maxLength: maxAddress }), {
        maxItems: maxBcc,
        description: 'Recipients that no header shows. Refused for templates with secret fields.',
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
    headers: Type.Optional(
      StringMap(
        'Headers by name: `X-…`, `List-…` except unsubscribe, `References`, `In-Reply-To`, `Importance` and `Feedback-ID`. Each has at most 998 octets together with its name.',
        { members: maxCustomHeaders, nameLength: maxHeaderName, length: maxHeaderValue },
      ),
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
    attributes: Type.Optional(
      StringMap('Your own data by name, returned with the message, in search and in webhooks.', {
        members: maxAttributes,
        nameLength: maxAttributeName,
        length: maxAttributeValue,
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
