import { type Static, Type } from 'typebox';
import { Nullable, strict, Time } from '../../foundation/common-schemas.ts';
import { maxSourceText, TemplateSchema } from '../../manifest/manifest-schema.ts';
import type { TemplateSource } from '../../template/template-source.ts';

const templateProperties = TemplateSchema.properties;

/** What a version is made of: an entry of the manifest whose parts stand in it. */
export const TemplateContentSchema = Type.Object(
  {
    subject: templateProperties.subject,
    previewText: templateProperties.previewText,
    html: Type.Optional(
      Type.String({
        description: 'The HTML part, with {{fields}}; or use `mjml`.',
        maxLength: maxSourceText,
      }),
    ),
    mjml: Type.Optional(
      Type.String({
        description: 'The HTML part as MJML, with {{fields}}; or use `html`.',
        maxLength: maxSourceText,
      }),
    ),
    text: Type.Optional(
      Type.String({
        description: 'The text part. Default: made from the HTML.',
        maxLength: maxSourceText,
      }),
    ),
    fields: templateProperties.fields,
    sender: templateProperties.sender,
    freshnessMinutes: templateProperties.freshnessMinutes,
  },
  { ...strict, title: 'TemplateContent' },
);

export type VersionContent = Static<typeof TemplateContentSchema>;

/** A stored version in the form in which it was given. */
export function contentOf(row: {
  readonly source: TemplateSource;
  readonly senderAddress: string | null;
  readonly freshnessSeconds: number;
}): VersionContent {
  const { subject, previewText, html, mjml, text, fields } = row.source;
  return {
    subject,
    ...(previewText === undefined ? {} : { previewText }),
    ...(html === undefined ? {} : { html }),
    ...(mjml === undefined ? {} : { mjml }),
    ...(text === undefined ? {} : { text }),
    fields: { ...fields },
    ...(row.senderAddress === null ? {} : { sender: row.senderAddress }),
    freshnessMinutes: Math.max(1, Math.round(row.freshnessSeconds / 60)),
  };
}

export const TemplateView = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    createdBy: Type.String({ description: 'Address of the user who counts as its creator.' }),
    publishedVersion: Nullable(Type.Integer({ description: 'The version that is sent now.' })),
    latestVersion: Type.Integer({
      description:
        'The highest version; 0 where there is none. Test messages of drafts take numbers too, so they can have gaps.',
    }),
    hasDraft: Type.Boolean(),
    subject: Nullable(Type.String()),
    whenUncertain: Type.Enum(['resend', 'hold'], {
      description: 'What becomes of a message whose attempt ended in the unknown.',
    }),
    changedAt: Time('When something about it was changed last.'),
  },
  { ...strict, title: 'Template' },
);

export const FieldView = Type.Object(
  {
    name: Type.String(),
    parts: Type.Array(Type.String(), { description: 'Where it is used.' }),
    required: Type.Boolean({
      description: 'A request must give it a value, as it has no default.',
    }),
    secret: Type.Boolean(),
    default: Nullable(Type.String()),
    sample: Nullable(Type.String()),
    description: Nullable(Type.String()),
  },
  { ...strict, title: 'TemplateField' },
);

export const VersionView = Type.Object(
  {
    version: Type.Integer(),
    published: Type.Boolean({ description: 'Whether it is the one that is sent now.' }),
    createdAt: Time('When it was published first.'),
    subject: Type.String(),
  },
  { ...strict, title: 'TemplateVersion' },
);

export const VersionDetailView = Type.Object(
  {
    ...VersionView.properties,
    content: TemplateContentSchema,
    fields: Type.Array(FieldView),
  },
  { ...strict, title: 'TemplateVersionDetail' },
);
