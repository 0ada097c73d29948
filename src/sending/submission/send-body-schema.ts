import { type Static, Type } from 'typebox';
import {
  Flag,
  NamedObject,
  OptionalText,
  optional,
  PartialObject,
  StrictObject,
  StringMap,
  strict,
  Text,
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
import { maxRawSubject } from '../../content/message/raw-message.ts';
import { type FieldValue, structureSchemas } from '../../content/template/field-value.ts';
import { maxLocaleLength } from '../../content/template/locale.ts';
import { MAX_SOURCE_LENGTH, MAX_STRUCTURED_TEXT } from '../../content/template/template-limits.ts';
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
  toAddress: Text('Recipient.', { examples: ['ada@customer.example'], maxLength: maxAddress }),
  ...optional({
    toDisplayName: Text('The recipient’s name in the To header. Default: only the address.', {
      maxLength: maxRecipientName,
    }),
    ccAddressList: Type.Array(Type.String({ maxLength: maxAddress }), {
      maxItems: maxCc,
      description: 'Addresses of the Cc header.',
    }),
    bccAddressList: Type.Array(Type.String({ maxLength: maxAddress }), {
      maxItems: maxBcc,
      description: 'Recipients that no header shows. Refused for templates with secret fields.',
    }),
    fromAddress: Text(
      'A verified sender. Default: the sender selected in the template, otherwise the template creator.',
      { maxLength: maxAddress },
    ),
    fromDisplayName: Text('A name registered for that sender. Default: the first registered one.', {
      maxLength: maxName,
    }),
    replyToAddress: Text('A verified sender. Default: the value of fromAddress.', {
      maxLength: maxAddress,
    }),
  }),
});

const attachment = NamedObject('Attachment', {
  filename: Text('Shown to the recipient; any letters, but no slashes.', {
    minLength: 1,
    maxLength: 255,
  }),
  contentType: Text('Media type, such as `application/pdf`.', { minLength: 1, maxLength: 127 }),
  content: Text('Base64 (RFC 4648) with padding and without line breaks.', { minLength: 1 }),
  contentId: OptionalText('Makes it an inline part that the template’s HTML shows as `cid:…`.', {
    maxLength: 100,
  }),
});

/** @param value schema of one value */
function makeContent<Value extends FieldValue>(value: object) {
  return Type.Object(
    {
      ...optional({
        subjectLine: Text('Default: the template’s subject.', { maxLength: maxSubjectLength }),
        // Not a pattern record: `.` would exclude keys with a line break.
        personalizationDataMap: Type.Unsafe<Record<string, Value>>({
          type: 'object',
          additionalProperties: value,
          description: `Values by name of the template’s personalization fields: strings, or what a field of kind \`list\` or \`object\` declares, at most ${MAX_STRUCTURED_TEXT} of lists and objects.`,
        }),
        previewText: Text('Default: the template’s preview text.', { maxLength: maxPreviewLength }),
        locale: Text(
          'The recipient’s language (BCP 47), such as `de` or `pt-BR`. The template’s best match is sent (RFC 4647 section 3.4). Default: the template’s default content.',
          { maxLength: maxLocaleLength },
        ),
        headers: StringMap(
          'Headers by name: `X-…`, `List-…` except unsubscribe, `References`, `In-Reply-To`, `Importance` and `Feedback-ID`. Each has at most 998 octets together with its name.',
          { members: maxCustomHeaders, nameLength: maxHeaderName, length: maxHeaderValue },
        ),
        attachments: Type.Array(attachment, {
          maxItems: maxAttachments,
          description:
            'Files sent with the message. With them, the request can be as large as the account’s attachment limit, which counts the message as sent.',
        }),
      }),
    },
    { ...strict, examples: [{ personalizationDataMap: { 'Order Number': 'A-1001' } }] },
  );
}

const metadata = PartialObject({
  transactional: Flag(
    'True for critical, non-commercial email; needs the transactional add-on. Default: false.',
  ),
  externalId: Text('Identifier from the caller’s own system.', { maxLength: 128 }),
  tagList: Type.Array(Type.String({ minLength: 1, maxLength: 48 }), {
    maxItems: 1,
    description: 'Groups the reports of messages sent from one template.',
  }),
  attributes: StringMap(
    'Your own data by name, returned with the message, in search and in webhooks.',
    { members: maxAttributes, nameLength: maxAttributeName, length: maxAttributeValue },
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
  ...optional({
    deliveryWhenDelayed: Text(
      '`TRUE` or `FALSE` in any case. `FALSE`: not delivered later than the template’s freshness window. Default: `TRUE`.',
      { pattern: '^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|)$' },
    ),
    sendAt: Text(
      'When to send it (RFC 3339), up to 365 days ahead. Default: now. A time up to 5 minutes in the past means now.',
      { maxLength: maxTimestampLength },
    ),
    deliverBefore: Text(
      'A time (RFC 3339) after which it is no longer delivered; it then ends as `expired`. Default: 48 hours after its send time, or the freshness window.',
      { maxLength: maxTimestampLength },
    ),
    receiveReplies: Flag(
      'True: Reply-To is an address of this service, and replies go to webhooks as `message.replied`. Not with `replyToAddress`, or for templates with secret fields. Default: false.',
    ),
    templateVersion: Text(
      '`accepted` or `due`. `due`: uses the template version that is published at `sendAt`. Default: `accepted`.',
      { pattern: '^(accepted|due|)$' },
    ),
    statusToken,
  }),
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

const { previewText: _preview, ...sharedContent } = makeContent<string>({
  type: 'string',
}).properties;
const {
  deliveryWhenDelayed: _delayed,
  templateVersion: _version,
  ...sharedActions
} = actions.properties;

/** The body of a message that isn't made from a stored template: that of a send without what a template says or decides. */
export const contentBodySchema = NamedObject('SendContent', {
  envelope: StrictObject({
    ...envelope.properties,
    ccAddressList: Type.Optional({
      ...envelope.properties.ccAddressList,
      description: 'Addresses of the Cc header. Each gets a message of its own.',
    }),
    bccAddressList: Type.Optional({
      ...envelope.properties.bccAddressList,
      description: 'Recipients that no header shows. Each gets a message of its own.',
    }),
    fromAddress: Text('A verified sender.', {
      examples: ['orders@shop.example'],
      maxLength: maxAddress,
    }),
  }),
  content: Type.Object(
    {
      ...sharedContent,
      subjectLine: Type.String({ minLength: 1, maxLength: maxRawSubject }),
      ...optional({
        html: Text('The HTML part. At least one of `html` and `text` is required.', {
          maxLength: MAX_SOURCE_LENGTH,
        }),
        text: Text('The text part. Default: none; it isn’t derived from the HTML.', {
          maxLength: MAX_SOURCE_LENGTH,
        }),
        literal: Flag(
          'True: subject, HTML and text are sent as they are. False: placeholders such as `{{First Name}}` are filled in as in a template. Default: false.',
        ),
        personalizationDataMap: {
          ...sharedContent.personalizationDataMap,
          description: 'Values by name of the placeholders: strings.',
        },
        locale: Text('The language of dates and numbers that placeholders format (BCP 47).', {
          maxLength: maxLocaleLength,
        }),
      }),
    },
    {
      ...strict,
      examples: [
        {
          subjectLine: 'Welcome, {{Name}}',
          html: '<p>Hello {{Name}}</p>',
          personalizationDataMap: { Name: 'Ada' },
        },
      ],
    },
  ),
  metadata: Type.Optional(metadata),
  actions: Type.Optional(
    PartialObject({
      ...sharedActions,
      trackOpens: Flag('True to track opens of the HTML. Default: false.'),
      trackClicks: Flag('True to track clicks of the HTML. Default: false.'),
    }),
  ),
});

export type ContentBody = Static<typeof contentBodySchema>;

const { attachments: _, ...batchContent } = makeContent<FieldValue>(anyValue).properties;

/** The body of a batch, for its documentation; `readBatch` validates it. */
export const batchBodySchema = NamedObject('SendBatch', {
  messages: Type.Array(
    NamedObject('BatchMessage', {
      ...sendBodySchema.properties,
      content: Type.Optional(StrictObject(batchContent)),
      idempotencyKey: OptionalText('As the header `Idempotency-Key` of a single request.', {
        minLength: 1,
        maxLength: 255,
        pattern: '^[ -~]+$',
      }),
    }),
    { maxItems: maxBatchMessages },
  ),
});
