import { type Static, Type } from 'typebox';
import { Nullable, strict, Time } from '../../foundation/common-schemas.ts';
import { maxSourceText, TemplateSchema } from '../../manifest/manifest-schema.ts';
import type { TemplateSource } from '../../template/template-source.ts';

const templateProperties = TemplateSchema.properties;

/** The content of a version: a template entry of the manifest with its parts inline. */
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
        description: 'The text part. Default: generated from the HTML.',
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

/** Converts a stored version back to its input form. */
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
    createdBy: Type.String({ description: 'Email of the user recorded as its creator.' }),
    publishedVersion: Nullable(Type.Integer({ description: 'The version currently sent.' })),
    latestVersion: Type.Integer({
      description:
        'The highest version; 0 if there is none. Numbers can have gaps, because test messages of drafts use some.',
    }),
    hasDraft: Type.Boolean(),
    subject: Nullable(Type.String()),
    whenUncertain: Type.Enum(['resend', 'hold'], {
      description: 'What to do with a message if it’s unknown whether an attempt succeeded.',
    }),
    changedAt: Time('When it last changed.'),
  },
  { ...strict, title: 'Template' },
);

export const FieldView = Type.Object(
  {
    name: Type.String(),
    parts: Type.Array(Type.String(), { description: 'Where it is used.' }),
    required: Type.Boolean({
      description: 'Requests must supply a value, because the field has no default.',
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
    published: Type.Boolean({ description: 'Whether this version is currently sent.' }),
    createdAt: Time('When it was first published.'),
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
