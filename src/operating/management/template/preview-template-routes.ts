import { Type } from 'typebox';
import {
  NamedObject,
  Nullable,
  OptionalText,
  StrictObject,
  Text,
} from '../../../base/values/common-schemas.ts';
import { parseMessageId } from '../../../base/values/ids.ts';
import { readMessageStatus } from '../../../content/message/message-status-store.ts';
import { currentFormat } from '../../../content/template/compiled-template.ts';
import {
  type FieldValue,
  type GivenValues,
  structureSchemas,
} from '../../../content/template/field-value.ts';
import { isSecretField } from '../../../content/template/guarded-field.ts';
import { maxLocaleLength } from '../../../content/template/locale.ts';
import { parseOverride } from '../../../content/template/parse-override.ts';
import { readTemplateVersion } from '../../../content/template/template-page-store.ts';
import { conflict, invalidField, notFound } from '../answer/problem.ts';
import { readOptionalLocale } from '../answer/read-query.ts';
import { findSecretNames } from '../message/mask-content.ts';
import { defineOperation, type OperationCall } from '../operation.ts';
import { requireTemplate } from './manage-templates-routes.ts';
import { previewInThread } from './preview-threads.ts';
import { currentContent, type ReadableContent } from './publish-template-routes.ts';
import { maxValueBytes, requireSendableValues } from './sample-values.ts';
import {
  contentOf,
  type DraftContent,
  DraftContentSchema,
  FieldView,
  usedContent,
  type VersionContent,
  viewFields,
} from './template-views.ts';

const ProblemView = NamedObject('TemplateProblem', {
  severity: Type.Enum(['error', 'warning'], { description: 'Errors block publishing.' }),
  part: Type.String(),
  variant: OptionalText('The locale of the variant that has it. Absent: the default content.'),
  rule: Text('Stable identifier.'),
  message: Type.String(),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
});

/** Field values of a preview or test message. */
export const Values = Type.Unsafe<GivenValues>({
  type: 'object',
  description: `Values by field name: strings, or what a list or object declares. At most ${maxValueBytes} bytes in total.`,
  maxProperties: 1_000,
  propertyNames: { type: 'string', maxLength: 1_000 },
  additionalProperties: {
    anyOf: [{ type: 'string', maxLength: maxValueBytes }, ...structureSchemas()],
  },
});

/** The locale of a preview or test message. */
export const LocaleChoice = OptionalText(
  'The recipient’s language (BCP 47), as in a request. Default: the default content.',
  { maxLength: maxLocaleLength },
);

const PreviewView = NamedObject('TemplatePreview', {
  problems: Type.Array(ProblemView),
  fields: Type.Array(FieldView, { description: 'Fields found in the template.' }),
  variant: Nullable(Text('The locale of the variant shown. Null: the default content.')),
  rendered: Nullable(
    StrictObject({
      subject: Type.String(),
      previewText: Type.String(),
      html: Nullable(Type.String()),
      text: Nullable(Text('The plain text part.')),
      htmlBytes: Type.Integer(),
      textBytes: Type.Integer(),
    }),
  ),
  hints: Type.Array(
    NamedObject('TemplateHint', {
      kind: Type.Enum(['size', 'spam', 'accessibility', 'content']),
      rule: Type.String(),
      message: Type.String(),
    }),
    { description: 'Advice that doesn’t block publishing.' },
  ),
});

export const previewTemplate = defineOperation({
  id: 'previewTemplate',
  summary: 'Preview a template with values',
  description:
    'Renders the given `content`, or else the given `version`, the draft or the published version. Fields without a value use their sample, default or name; `messageId` fills in the values of a message and requires `messages:read`. Of the variants, only the one shown is checked.',
  body: StrictObject({
    content: Type.Optional(DraftContentSchema),
    version: Type.Optional(Type.Integer({ minimum: 1 })),
    values: Type.Optional(Values),
    messageId: OptionalText(
      'A message of this template, whose values are used where `values` has none. Secret and erased values aren’t.',
      { format: 'uuid', maxLength: 36 },
    ),
    locale: LocaleChoice,
    subjectLine: Type.Optional(Type.String({ maxLength: 90 })),
    previewText: Type.Optional(Type.String({ maxLength: 240 })),
  }),
  answer: PreviewView,
  async handle(call) {
    const { messageId } = call.body;
    const locale = readOptionalLocale(call.body.locale);
    requireSendableValues(call.body.values);
    await requireTemplate(call);
    const { content, format } = await chooseVersion(call, call.body.content, call.body.version);
    const past = messageId === undefined ? {} : await readPastValues(call, messageId, content);
    const values = { ...past, ...call.body.values };
    const preview = await previewInThread(
      {
        content,
        format,
        values,
        locale,
        subjectLine: checkOverride('subjectLine', call.body.subjectLine),
        previewText: checkOverride('previewText', call.body.previewText),
      },
      call.params.accountId,
    );
    const fields = viewFields(preview.fields, content.fields, preview.examples);
    const { problems, variant } = preview;
    if (preview.rendered === null) return { problems, fields, variant, rendered: null, hints: [] };
    const { html, text } = preview.rendered;
    const sizes = { htmlBytes: bytesOf(html), textBytes: bytesOf(text) };
    const rendered = { ...preview.rendered, ...sizes };
    return { problems, fields, variant, rendered, hints: preview.hints };
  },
});

function bytesOf(text: string | null): number {
  return text === null ? 0 : Buffer.byteLength(text);
}

/** The content to preview or send. */
export async function chooseVersion(
  call: OperationCall,
  given: DraftContent | undefined,
  version: number | undefined,
): Promise<ReadableContent> {
  if (given !== undefined) return { content: withImageNames(given), format: currentFormat };
  if (version === undefined) return currentContent(call);
  const { kysely } = call;
  const row = await readTemplateVersion(
    kysely,
    call.params.accountId,
    call.params.templateId,
    version,
  );
  if (row === undefined) throw notFound('version');
  return { content: contentOf(row), format: row.compiled.format };
}

/** A preview needs no more of images than their contentId. */
function withImageNames(draft: DraftContent): VersionContent {
  const { images, ...content } = usedContent(draft);
  if (images === undefined) return content;
  const none = { filename: '', contentType: '', size: 0, sha256: '' };
  return { ...content, images: images.map(({ contentId }) => ({ ...none, contentId })) };
}

function checkOverride(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const parsed = parseOverride(text);
  if (!parsed.ok) throw invalidField(name, parsed.reason);
  return text;
}

/**
 * The values of a message, for a preview of its template: without those that were erased, and those of fields that are secret in
 * its version or in the previewed content.
 * @throws Problem if the caller can't read messages, or the template has no such message
 */
async function readPastValues(
  call: OperationCall,
  messageIdText: string,
  { fields = {} }: VersionContent,
): Promise<Record<string, FieldValue>> {
  await call.requirePermission('messages:read');
  const { kysely } = call;
  const { accountId, templateId } = call.params;
  const messageId = parseMessageId(messageIdText);
  const found = messageId && (await readMessageStatus(kysely, accountId, messageId));
  if (found === undefined || found.message.template_id !== templateId)
    throw invalidField('messageId', 'must be a message of this template');
  const { content } = found.message;
  if (content === null) throw conflict('The content of this message was erased');
  const secret = await findSecretNames(call, found.message);
  const values = Object.entries(content.values).filter(
    (entry): entry is [string, FieldValue] =>
      entry[1] !== null && !secret.has(entry[0]) && !isSecret(fields, entry[0]),
  );
  return Object.fromEntries(values);
}

function isSecret(fields: NonNullable<VersionContent['fields']>, name: string): boolean {
  return Object.hasOwn(fields, name) && isSecretField(fields[name] ?? {});
}
