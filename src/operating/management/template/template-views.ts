import { type Static, Type } from 'typebox';
import {
  Flag,
  NamedObject,
  Nullable,
  OptionalText,
  optional,
  Text,
  Time,
  Whole,
} from '../../../base/values/common-schemas.ts';
import type { CompiledField } from '../../../content/template/compiled-template.ts';
import type { FieldKind, FieldValue, GivenValues } from '../../../content/template/field-value.ts';
import { guardDaysOf, isSecretField } from '../../../content/template/guarded-field.ts';
import { MAX_IMAGES, MAX_VARIANTS } from '../../../content/template/template-limits.ts';
import type {
  FieldSettings,
  ItemFieldSettings,
  TemplateSource,
} from '../../../content/template/template-source.ts';
import { imageTypes } from '../../../sending/submission/check-image.ts';
import {
  imageContent,
  imageProperties,
  maxSourceText,
  TemplateSchema,
  VariantsSchema,
} from '../../manifest/manifest-schema.ts';

const templateProperties = TemplateSchema.properties;

const bodies = optional({
  html: Text('The HTML part, with {{fields}}; or use `mjml`.', { maxLength: maxSourceText }),
  mjml: Text('The HTML part as MJML, with {{fields}}; or use `html`.', {
    maxLength: maxSourceText,
  }),
  text: Text('The text part. Default: generated from the HTML.', { maxLength: maxSourceText }),
});

/** An image of a draft or version. Its content has a separate route. */
export const ImageView = NamedObject('TemplateImage', {
  contentId: imageProperties.contentId,
  filename: Text('Its name as a file.', { maxLength: 255 }),
  contentType: Text(`${imageTypes.join(', ')}.`, { maxLength: 100 }),
  size: Whole('Bytes of the content.'),
  sha256: Text('SHA-256 of the content, in hex.', { maxLength: 64 }),
});

/** The content of a version: a template entry of the manifest with its parts inline. */
export const TemplateContentSchema = NamedObject('TemplateContent', {
  subject: templateProperties.subject,
  previewText: templateProperties.previewText,
  ...bodies,
  locale: templateProperties.locale,
  variants: VariantsSchema(bodies),
  fields: templateProperties.fields,
  images: Type.Optional(
    Type.Array(ImageView, {
      description: 'Images that the HTML shows as `cid:…`.',
      maxItems: MAX_IMAGES,
    }),
  ),
  sender: templateProperties.sender,
  freshnessMinutes: templateProperties.freshnessMinutes,
});

const unusedMarkup = Type.Optional(
  Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    description:
      'Markup of the other kind, MJML or HTML, that the editor keeps to switch back: by locale of the variant, `default` for the default content. Versions don’t have it.',
    maxProperties: MAX_VARIANTS + 1,
    propertyNames: { type: 'string', maxLength: 100 },
    additionalProperties: { type: 'string', maxLength: maxSourceText },
  }),
);

/** The content of a draft. */
export const DraftContentView = NamedObject('TemplateDraftView', {
  ...TemplateContentSchema.properties,
  unusedMarkup,
});

/** The content of a draft without its unused markup, which versions don't have. */
export function usedContent<Content extends object>(
  content: Content & { readonly unusedMarkup?: unknown },
): Omit<Content, 'unusedMarkup'> {
  const { unusedMarkup: _, ...used } = content;
  return used;
}

const DraftImage = NamedObject('TemplateDraftImage', {
  ...imageProperties,
  content: Type.Optional(imageContent),
  sha256: OptionalText(
    'Instead of `content`: SHA-256, in hex, of an image that the draft or a version of the template has.',
    { pattern: '^[0-9a-f]{64}$', maxLength: 64 },
  ),
  size: Type.Optional(Whole('Ignored: follows from the content.')),
});

/** The content of a draft as a request gives it. */
export const DraftContentSchema = NamedObject('TemplateDraftContent', {
  ...TemplateContentSchema.properties,
  images: Type.Optional(
    Type.Array(DraftImage, {
      description:
        'Images that the HTML shows as `cid:…`, 2 MiB together, each with `content` or `sha256`.',
      maxItems: MAX_IMAGES,
    }),
  ),
  unusedMarkup,
});

export type DraftContent = Static<typeof DraftContentSchema>;

export type VersionContent = Static<typeof TemplateContentSchema>;

/** Converts a stored version back to its input form. */
export function contentOf(row: {
  readonly source: TemplateSource;
  readonly senderAddress: string | null;
  readonly freshnessSeconds: number;
}): VersionContent {
  const { subject, previewText, html, mjml, text, fields, images, locale, variants } = row.source;
  return {
    subject,
    ...(previewText === undefined ? {} : { previewText }),
    ...(html === undefined ? {} : { html }),
    ...(mjml === undefined ? {} : { mjml }),
    ...(text === undefined ? {} : { text }),
    ...(locale === undefined ? {} : { locale }),
    ...(variants === undefined ? {} : { variants }),
    fields: { ...fields },
    ...(images === undefined ? {} : { images: [...images] }),
    ...(row.senderAddress === null ? {} : { sender: row.senderAddress }),
    freshnessMinutes: Math.max(1, Math.round(row.freshnessSeconds / 60)),
  };
}

const ValueView = Type.Unsafe<FieldValue>({
  anyOf: [
    { type: 'string' },
    { type: 'object', additionalProperties: true },
    { type: 'array', items: { type: 'object', additionalProperties: true } },
  ],
});

export const TemplateView = NamedObject('Template', {
  id: Type.String(),
  name: Type.String(),
  createdBy: Text('Email of the user recorded as its creator.'),
  publishedVersion: Nullable(Whole('The version currently sent.')),
  latestVersion: Whole('The highest version; 0 if there is none.'),
  hasDraft: Type.Boolean(),
  subject: Nullable(Type.String()),
  whenUncertain: Type.Enum(['resend', 'hold'], {
    description: 'What to do with a message if it’s unknown whether an attempt succeeded.',
  }),
  changedAt: Time('When it last changed.'),
});

const itemFieldProperties = {
  name: Type.String(),
  kind: Type.Enum(['text', 'list', 'object'], { description: 'What its values are.' }),
  parts: Type.Array(Type.String(), { description: 'Where it is used.' }),
  default: Nullable(ValueView),
  sample: Nullable(ValueView),
  description: Nullable(Type.String()),
};

const ItemFieldView = NamedObject('TemplateItemField', {
  ...itemFieldProperties,
  required: Flag(
    'Each item must have a value, because the field has no default. A field that isn’t declared may have one outside of the item instead.',
  ),
  fields: Type.Optional(
    Type.Array(Type.Unsafe<object>({ type: 'object' }), {
      description: 'The fields of its items, in the same form.',
    }),
  ),
});

/** A field of items, as in responses. */
interface ItemFieldJson {
  readonly name: string;
  readonly kind: FieldKind;
  readonly parts: string[];
  readonly required: boolean;
  readonly default: FieldValue | null;
  readonly sample: FieldValue | null;
  readonly description: string | null;
  readonly fields?: ItemFieldJson[];
}

export const FieldView = NamedObject('TemplateField', {
  ...itemFieldProperties,
  required: Flag('Requests must supply a value, because the field has no default.'),
  secret: Type.Boolean(),
  guardDays: Nullable(Whole('How many days its links work; null if it isn’t guarded.')),
  example: Type.Unsafe<FieldValue>({
    ...ValueView,
    description: 'An example value: the sample, or a generated one.',
  }),
  fields: Type.Optional(
    Type.Unsafe<ItemFieldJson[]>({
      type: 'array',
      items: ItemFieldView,
      description: 'The fields of a list’s items, or of an object; absent for texts.',
    }),
  ),
});

export const VersionView = NamedObject('TemplateVersion', {
  version: Type.Integer(),
  published: Flag('Whether this version is currently sent.'),
  createdAt: Time('When it was first published.'),
  subject: Type.String(),
  locales: Type.Array(Type.String(), { description: 'The locales of its variants.' }),
});

export const VersionDetailView = NamedObject('TemplateVersionDetail', {
  ...VersionView.properties,
  content: TemplateContentSchema,
  fields: Type.Array(FieldView),
});

/** The fields a version uses, with their declared settings. @param examples a value for each */
export function viewFields(
  fields: readonly CompiledField[],
  settings: Readonly<Record<string, FieldSettings>> | undefined,
  examples: GivenValues,
): Static<typeof FieldView>[] {
  const settingsByName = new Map(Object.entries(settings ?? {}));
  return fields.map((field) => ({
    ...viewField(field, settingsByName.get(field.name)),
    secret: isSecretField(settingsByName.get(field.name) ?? {}),
    guardDays: guardDaysOf(settingsByName.get(field.name) ?? {}) ?? null,
    example: Object.hasOwn(examples, field.name) ? (examples[field.name] ?? '') : field.name,
  }));
}

function viewField(field: CompiledField, settings: ItemFieldSettings = {}): ItemFieldJson {
  const { name, kind, parts, fields } = field;
  const inner = new Map(Object.entries(settings.fields ?? {}));
  return {
    name,
    kind: kind ?? 'text',
    parts: [...parts],
    // A list that is only declared is no part of any message.
    required: settings.default === undefined && parts.length > 0,
    default: settings.default ?? null,
    sample: settings.sample ?? null,
    description: settings.description ?? null,
    ...(fields === undefined
      ? {}
      : { fields: fields.map((one) => viewField(one, inner.get(one.name))) }),
  };
}
