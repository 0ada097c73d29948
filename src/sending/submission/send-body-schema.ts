import { type Static, Type } from 'typebox';
import {
  Flag,
  NamedObject,
  OptionalText,
  StrictObject,
  StringMap,
  strict,
  Whole,
} from '../../base/values/common-schemas.ts';
import { maxAttachments } from '../../content/message/attachment.ts';
import {
  maxAttributeName,
  maxAttributes,
  maxAttributeValue,
  maxBcc,
  maxCc,
  maxPreviewLength,
  maxSubjectLength,
} from '../../content/message/message-content.ts';
import { type FieldValue, structureSchemas } from '../../content/template/field-value.ts';
import { maxLocaleLength } from '../../content/template/locale.ts';
import { MAX_STRUCTURED_TEXT } from '../../content/template/template-limits.ts';
import { maxBatchMessages } from '../../host/http/limits/route-limits.ts';
import { maxCustomHeaders, maxHeaderName, maxHeaderValue } from './custom-headers.ts';
import { maxTimestampLength } from './delivery-timing.ts';
import { type StatusMember, statusSeconds } from './status-link.ts';

/** Longer than any address (RFC 5321 section 4.5.3.1.3); syntax is checked later. */
const maxAddress = 320;
/** Far longer than any name that can be registered. */
const maxName = 1_000;
/** As long as the name of a sender. */
export const maxRecipientName = 200;

const envelope = StrictObject({
  toAddress: Type.String({
    description: 'Recipient.',
    examples: ['ada@customer.example'],
    maxLength: maxAddress,
  }),
  toDisplayName: OptionalText({
    description: 'The recipient’s name in the To header. Default: only the address.',
    maxLength: maxRecipientName,
  }),
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
  fromAddress: OptionalText({
    description:
      'A verified sender. Default: the sender selected in the template, otherwise the template creator.',
    maxLength: maxAddress,
  }),
  fromDisplayName: OptionalText({
    description: 'A name registered for that sender. Default: the first registered one.',
    maxLength: maxName,
  }),
  replyToAddress: OptionalText({
    description: 'A verified sender. Default: the value of fromAddress.',
    maxLength: maxAddress,
  }),
});

const attachment = NamedObject('Attachment', {
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
  contentId: OptionalText({
    maxLength: 100,
    description: 'Makes it an inline part that the template’s HTML shows as `cid:…`.',
  }),
});

/** @param value schema of one value */
function makeContent<Value extends FieldValue>(value: object) {
  return Type.Object(
    {
      subjectLine: OptionalText({
        maxLength: maxSubjectLength,
        description: 'Default: the template’s subject.',
      }),
      personalizationDataMap: Type.Optional(
        // Not a pattern record: `.` would exclude keys with a line break.
        Type.Unsafe<Record<string, Value>>({
          type: 'object',
          additionalProperties: value,
          description: `Values by name of the template’s personalization fields: strings, or what a field of kind \`list\` or \`object\` declares, at most ${MAX_STRUCTURED_TEXT} of lists and objects.`,
        }),
      ),
      previewText: OptionalText({
        maxLength: maxPreviewLength,
        description: 'Default: the template’s preview text.',
      }),
      locale: OptionalText({
        maxLength: maxLocaleLength,
        description:
          'The recipient’s language (BCP 47), such as `de` or `pt-BR`. The template’s best match is sent (RFC 4647 section 3.4). Default: the template’s default content.',
      }),
      headers: Type.Optional(
        StringMap(
          'Headers by name: `X-…`, `List-…` except unsubscribe, `References`, `In-Reply-To`, `Importance` and `Feedback-ID`. Each has at most 998 octets together with its name.',
          { members: maxCustomHeaders, nameLength: maxHeaderName, length: maxHeaderValue },
        ),
      ),
      attachments: Type.Optional(
        Type.Array(attachment, {
          maxItems: maxAttachments,
          description:
            'Files sent with the message. With them, the request can be as large as the account’s attachment limit, which counts the message as sent.',
        }),
      ),
    },
    { ...strict, examples: [{ personalizationDataMap: { 'Order Number': 'A-1001' } }] },
  );
}

const metadata = StrictObject({
  transactional: Type.Optional(
    Type.Boolean({
      description:
        'True for critical, non-commercial email; needs the transactional add-on. Default: false.',
    }),
  ),
  externalId: OptionalText({
    maxLength: 128,
    description: 'Identifier from the caller’s own system.',
  }),
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
});

/** Not `anyOf`, whose errors would name every alternative. */
const statusToken = Type.Unsafe<StatusMember>({
  type: ['boolean', 'object'],
  properties: {
    private: Flag(
      'True: the link doesn’t tell a message that waits from one that will never arrive, and a suppressed To address gets one too. Default: false.',
    ),
    resendAfterSeconds: Whole('When to offer to send again.', {
      minimum: 1,
      maximum: statusSeconds,
    }),
  },
  additionalProperties: false,
  description: `True or an object: the response has a \`statusUrl\`, which shows the progress of the message without a key for ${statusSeconds / 60} minutes. Default: false.`,
});

const actions = StrictObject({
  trackOpens: Type.Boolean(),
  trackClicks: Type.Boolean(),
  deliveryWhenDelayed: OptionalText({
    pattern: '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|)$',
    description:
      '`TRUE` or `FALSE` in any case. `FALSE`: not delivered later than the template’s freshness window. Default: `TRUE`.',
  }),
  sendAt: OptionalText({
    maxLength: maxTimestampLength,
    description:
      'When to send it (RFC 3339), up to 365 days ahead. Default: now. A time up to 5 minutes in the past means now.',
  }),
  deliverBefore: OptionalText({
    maxLength: maxTimestampLength,
    description:
      'A time (RFC 3339) after which it is no longer delivered; it then ends as `expired`. Default: 48 hours after its send time, or the freshness window.',
  }),
  receiveReplies: Type.Optional(
    Type.Boolean({
      description:
        'True: Reply-To is an address of this service, and replies go to webhooks as `message.replied`. Not with `replyToAddress`, or for templates with secret fields. Default: false.',
    }),
  ),
  templateVersion: OptionalText({
    pattern: '^(accepted|due|)$',
    description:
      '`accepted` or `due`. `due`: uses the template version that is published at `sendAt`. Default: `accepted`.',
  }),
  statusToken: Type.Optional(statusToken),
});

function makeBody<Value extends FieldValue>(value: object) {
  return StrictObject({
    envelope,
    content: Type.Optional(makeContent<Value>(value)),
    metadata: Type.Optional(metadata),
    actions,
  });
}

const anyValue = { anyOf: [{ type: 'string' }, ...structureSchemas()] };

/**
 * The send body (section 2.2): single source of its validation, type and documentation. Lengths count Unicode code
 * points. An optional `""` is treated as absent.
 */
export const sendBodySchema = makeBody<FieldValue>(anyValue);

/** The send body without lists and objects, whose form depends on the template. */
export const textBodySchema = makeBody<string>({ type: 'string' });

export type SendBody<Value extends FieldValue = FieldValue> = Static<
  ReturnType<typeof makeBody<Value>>
>;

const { attachments: _, ...batchContent } = makeContent<FieldValue>(anyValue).properties;

/** The body of a batch, for its documentation; `readBatch` validates it. */
export const batchBodySchema = NamedObject('SendBatch', {
  messages: Type.Array(
    NamedObject('BatchMessage', {
      ...sendBodySchema.properties,
      content: Type.Optional(StrictObject(batchContent)),
      idempotencyKey: OptionalText({
        minLength: 1,
        maxLength: 255,
        pattern: '^[ -~]+$',
        description: 'As the header `Idempotency-Key` of a single request.',
      }),
    }),
    { maxItems: maxBatchMessages },
  ),
});
