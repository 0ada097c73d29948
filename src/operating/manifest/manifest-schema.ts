import { type Static, type TSchema, Type } from 'typebox';
import { roles, secondFactorRules, signInRules } from '../../accounts/account/account.ts';
import { givenSettings } from '../../accounts/account/account-settings.ts';
import { maxPasswordLength } from '../../accounts/account/hash-password.ts';
import {
  DescribedObject,
  Flag,
  NamedObject,
  Nullable,
  OptionalText,
  optional,
  StrictObject,
  strict,
  Text,
  Whole,
} from '../../base/values/common-schemas.ts';
import { type FieldValue, structureSchemas } from '../../content/template/field-value.ts';
import { maxGuardDays } from '../../content/template/guarded-field.ts';
import { maxLocaleLength } from '../../content/template/locale.ts';
import {
  MAX_FIELD_DEPTH,
  MAX_IMAGE_BYTES,
  MAX_IMAGES,
} from '../../content/template/template-limits.ts';
import type { FieldSettings, TemplateImage } from '../../content/template/template-source.ts';
import { sourceSettings } from '../../outbox/source/source-schemas.ts';
import { imageTypes } from '../../sending/submission/check-image.ts';

/** An id of an account, integration, template or list. */
function PublicId(description: string) {
  return Text(description, {
    examples: ['demo-1'],
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    patternErrorMessage: 'must be 1 to 64 letters, digits, - and _',
  });
}

/** A display name; blank ones would be invisible in the console. */
export function Name(description: string) {
  return Text(description, {
    examples: ['Demo'],
    maxLength: 200,
    pattern: '\\S',
    patternErrorMessage: 'is empty or blank',
  });
}

function Address(description: string) {
  return Text(description, { examples: ['ada@customer.example'], minLength: 3, maxLength: 320 });
}

function OptionalFlag(description: string) {
  return Type.Optional(Flag(description));
}

/** Max characters of a template source, and max bytes of a source file; publishing has a lower limit. */
export const maxSourceText = 2 * 1024 * 1024;

/** Max characters of a subject or preview text; publishing has a lower limit. */
const maxLineText = 10_000;

/** Max characters of a field's default, sample or description; publishing has a lower limit. */
const maxFieldText = 20_000;

/** Max entries per list in a manifest. */
const maxEntries = 10_000;

const path = { minLength: 1, maxLength: 4_096 } as const;

/** Inline text, or a reference to a file. */
function TextOrFile(description: string) {
  return Type.Union(
    [
      Type.String({ maxLength: maxSourceText }),
      StrictObject({
        file: Text('Path of a UTF-8 file, relative to the manifest.', path),
      }),
    ],
    { description },
  );
}

export const UserSchema = DescribedObject('A user of the account.', {
  email: Address('Identifies the user across accounts, case-insensitive.'),
  name: Type.Optional(Name('The user’s name.')),
  password: OptionalText(
    'At least 12 characters, preferably an environment variable reference. Only set for users without a password; existing passwords never change.',
    { maxLength: maxPasswordLength },
  ),
  role: Type.Enum([...roles], {
    examples: ['viewer'],
    description:
      'The role in this account. `service` is for programs that only send and read message status.',
  }),
  operator: OptionalFlag(
    'Whether the user is an operator of the installation. If omitted, this stays unchanged.',
  ),
});

export const SenderSchema = DescribedObject('A sender address of the account.', {
  address: Address('The sender address.'),
  ...optional({
    displayNames: Type.Array(Name('An allowed display name; "*" allows any.'), {
      description: 'Allowed display names; the first is the default.',
      uniqueItems: true,
      maxItems: 100,
    }),
    verified: Flag(
      'Whether the address is verified. Only verified senders can send. Default: false.',
    ),
  }),
});

export const IntegrationSchema = DescribedObject('An OAuth client that calls the service.', {
  clientId: PublicId('The client ID, unique in the installation.'),
  clientSecret: OptionalText(
    'At least 24 printable ASCII characters, preferably an environment variable reference. Required for a new integration.',
    { maxLength: 1_000 },
  ),
  name: Name('Shown on the consent page.'),
  ...optional({
    redirectUri: Text(
      'Where authorization codes are sent: https, http on loopback, or a private scheme of an installed app. Default: https://localhost/callback.',
      { maxLength: 2_000 },
    ),
    grants: Type.Array(Type.Enum(['password', 'authorization_code', 'refresh_token']), {
      description: 'Default: authorization_code and refresh_token.',
      uniqueItems: true,
      minItems: 1,
      maxItems: 3,
    }),
  }),
});

/** @param depth how deep lists and objects can be declared */
function itemFieldProperties(depth: number): Record<string, TSchema> {
  const text = { type: 'string', maxLength: maxFieldText };
  const inner = depth === 0 ? [] : structureSchemas('SampleObject', maxFieldText, depth);
  const value = (description: string) =>
    Type.Unsafe<FieldValue>({ ...(depth === 0 ? text : { anyOf: [text, ...inner] }), description });
  return {
    ...optional({
      kind: Type.Enum(['text', 'list', 'object'], {
        description: 'What its values are. Default: text.',
      }),
      default: value('Used if a request supplies no value; may be empty.'),
      sample: value('Sample value for previews and examples.'),
      description: Text('Shown to people who send with the template.', { maxLength: maxFieldText }),
    }),
    ...(depth === 0 ? {} : { fields: Type.Optional(fieldsOf(depth)) }),
  };
}

function fieldsOf(depth: number): TSchema {
  return Type.Unsafe({
    type: 'object',
    description: 'The fields of a list’s items, or of an object, by name.',
    maxProperties: 1_000,
    propertyNames: { type: 'string', maxLength: 1_000 },
    additionalProperties: NamedObject(
      `ItemFieldSettings${depth - 1}`,
      itemFieldProperties(depth - 1),
    ),
  });
}

const GuardDays = Whole('How many days the links work. Default: 7.', {
  minimum: 1,
  maximum: maxGuardDays,
});

const FieldSchema = StrictObject({
  ...itemFieldProperties(MAX_FIELD_DEPTH),
  secret: OptionalFlag(
    'Values are masked, and erased once the message is final. Links that contain them are never tracked.',
  ),
  guard: Type.Optional(
    Type.Union([Type.Boolean(), StrictObject({ days: Type.Optional(GuardDays) })], {
      description:
        'Values are one-time links: the message has a link to a page of this service instead, whose button leads on, so mail scanners can’t use them up. Implies `secret`.',
    }),
  ),
});

/** Max characters of an image's content in base64. */
const maxImageText = Math.ceil(MAX_IMAGE_BYTES / 3) * 4;

/** Members of an image, with content or without. */
export const imageProperties = {
  contentId: Text('Its name in the HTML, as in `<img src="cid:logo">`.', {
    minLength: 1,
    maxLength: 100,
  }),
  ...optional({
    filename: Text('Its name as a file. Default: the contentId with the extension of its type.', {
      maxLength: 255,
    }),
    contentType: Text(`${imageTypes.join(', ')}. Default: what the content shows.`, {
      maxLength: 100,
    }),
  }),
};

export const imageContent = Text('The content in base64.', {
  examples: ['R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='],
  maxLength: maxImageText,
});

const ImageSchema = StrictObject({
  ...imageProperties,
  content: Type.Union(
    [
      imageContent,
      StrictObject({
        file: Text('Path, relative to the manifest.', { ...path }),
      }),
    ],
    { description: 'The content in base64, or a file.' },
  ),
});

const subject = Text('The subject, with {{fields}}.', {
  examples: ['Your order {{Order Number}}'],
  minLength: 1,
  maxLength: maxLineText,
});

const previewText = OptionalText('Shown by mail clients next to the subject, with {{fields}}.', {
  maxLength: maxLineText,
});

const bodies = {
  html: Type.Optional(TextOrFile('The HTML part, with {{fields}}; or use `mjml`.')),
  mjml: Type.Optional(TextOrFile('The HTML part as MJML, with {{fields}}; or use `html`.')),
  text: Type.Optional(TextOrFile('The text part. Default: generated from the HTML.')),
};

/** The variants of a template by locale. @param parts the schemas of the bodies */
export function VariantsSchema<Parts extends Record<string, TSchema>>(parts: Parts) {
  const variant = NamedObject('TemplateVariant', { subject, previewText, ...parts });
  return Type.Optional(
    Type.Unsafe<Readonly<Record<string, Static<typeof variant>>>>({
      type: 'object',
      description:
        'The content in other languages, by locale (BCP 47), such as `de` or `pt-BR`. They use the fields of the template.',
      maxProperties: 1_000,
      propertyNames: { type: 'string', maxLength: 100 },
      additionalProperties: variant,
    }),
  );
}

export const TemplateSchema = DescribedObject(
  'A template. Changing its content publishes a new version.',
  {
    id: PublicId('The template ID of the send operation.'),
    name: Name('The template’s name.'),
    createdBy: Address('Email of a user of the account.'),
    sender: Type.Optional(
      Address('The sender if a request names none. Default: the address of `createdBy`.'),
    ),
    subject,
    previewText,
    ...bodies,
    locale: OptionalText(
      'The language of this content (BCP 47), which is sent where no variant matches. Dates and numbers are written in it. Default: en-US.',
      { maxLength: maxLocaleLength },
    ),
    variants: VariantsSchema(bodies),
    ...optional({
      fields: Type.Unsafe<Readonly<Record<string, FieldSettings>>>({
        type: 'object',
        description: 'Settings of the fields, by name.',
        maxProperties: 1_000,
        propertyNames: { type: 'string', maxLength: 1_000 },
        additionalProperties: FieldSchema,
      }),
      images: Type.Unsafe<readonly (Static<typeof ImageSchema> | TemplateImage)[]>(
        Type.Array(ImageSchema, {
          description: 'Images that the HTML shows as `cid:…`, 2 MiB together.',
          maxItems: MAX_IMAGES,
        }),
      ),
      freshnessMinutes: Whole(
        'How long to try delivering a message with deliveryWhenDelayed FALSE. Default: 15.',
        { minimum: 1, maximum: 20_160 },
      ),
      whenUncertain: Type.Enum(['resend', 'hold'], {
        description:
          'What to do if it’s unknown whether the receiving server accepted a message: resend it with the same Message-ID, or hold it for review. Default: resend.',
      }),
    }),
  },
);

export const ListSchema = DescribedObject('A contact list.', {
  id: PublicId('The list ID, such as l-0001.'),
  name: Name('The list’s name.'),
  ...optional({
    folderName: Text('The folder of the list.', { maxLength: 200 }),
    description: Text('The purpose of the list.', { maxLength: 1_000 }),
    csv: Text(
      'Path of a UTF-8 CSV file, relative to the manifest. Its first row contains the column names, including `email`.',
      path,
    ),
  }),
});

export const OutboxSourceSchema = DescribedObject(
  'A table of a database of the account, whose rows are sent.',
  { id: PublicId('The ID of the source.'), ...sourceSettings },
);

const QuotaSchema = DescribedObject(
  'Max recipients (To, Cc, Bcc and the archive address) of the messages accepted from the account. An omitted member means no limit; `{}` removes the quota.',
  optional({
    perHour: Whole('Per clock hour.', { minimum: 0, maximum: 1_000_000_000 }),
    perDay: Whole('Per UTC day.', { minimum: 0, maximum: 1_000_000_000 }),
  }),
);

const NetworksSchema = (who: string) =>
  Type.Array(Type.String({ maxLength: 50 }), {
    maxItems: 100,
    description: `Networks that ${who} may come from, such as 192.0.2.0/24. Default: any network.`,
  });

export const PolicySchema = Type.Object(
  optional({
    signIn: Type.Enum([...signInRules], {
      description:
        '`single-sign-on`: people sign in with the account’s or the installation’s provider; never the role `service` and operators. Default: `own-choice`.',
    }),
    secondFactor: Type.Enum([...secondFactorRules], {
      description:
        'Who needs a second factor; never the role `service`. Default: `own-choice`, nobody.',
    }),
    signInHours: Nullable(
      Whole('Hours after which people confirm who they are again. Default: never.', {
        minimum: 1,
        maximum: 168,
      }),
    ),
    peopleNetworks: NetworksSchema('people'),
    programNetworks: NetworksSchema('API keys and access tokens'),
    securityAddress: Text(
      'Gets the security notices about the account, its owners and operators too. Empty: none.',
      { maxLength: 320 },
    ),
  }),
  { ...strict, title: 'Policy', description: 'What the account asks of its callers.' },
);

export const AccountSchema = DescribedObject('An account with its resources.', {
  id: PublicId('The account ID of the send operation.'),
  name: Name('The account’s name.'),
  ...optional({
    addOns: Type.Array(Type.Enum(['transactional']), {
      description: 'Enabled add-ons. Default: none.',
      uniqueItems: true,
      maxItems: 1,
    }),
    suspended: Flag('Suspended accounts can’t send. Default: false.'),
    retentionDays: Type.Enum([30, 90, 400], {
      description: 'How many days messages are kept. Default: 90.',
    }),
    quota: QuotaSchema,
    ...givenSettings,
    policy: PolicySchema,
    users: Type.Array(UserSchema, { maxItems: maxEntries }),
    senders: Type.Array(SenderSchema, { maxItems: maxEntries }),
    integrations: Type.Array(IntegrationSchema, { maxItems: maxEntries }),
    templates: Type.Array(TemplateSchema, { maxItems: maxEntries }),
    lists: Type.Array(ListSchema, { maxItems: maxEntries }),
    outboxSources: Type.Array(OutboxSourceSchema, { maxItems: maxEntries }),
  }),
});

/** The manifest format; strict, so a misspelled member is an error instead of being ignored. */
export const ManifestSchema = Type.Object(
  {
    $schema: Type.Optional(Text('Location of this schema, for editors.', { maxLength: 2_000 })),
    accounts: Type.Array(AccountSchema, { minItems: 1, maxItems: maxEntries }),
  },
  {
    ...strict,
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Signalpost manifest',
    description: [
      'The resources that `signalpost apply` sets up. Omitted members of existing resources stay unchanged.',
      `Strings can contain \${NAME} to insert an environment variable; write $\${ for a literal \${.`,
    ].join(' '),
  },
);

export type RawManifest = Static<typeof ManifestSchema>;
export type RawAccount = Static<typeof AccountSchema>;
export type RawPolicy = Static<typeof PolicySchema>;
export type RawUser = Static<typeof UserSchema>;
export type RawSender = Static<typeof SenderSchema>;
export type RawIntegration = Static<typeof IntegrationSchema>;
export type RawTemplate = Static<typeof TemplateSchema>;
export type RawList = Static<typeof ListSchema>;
export type RawOutboxSource = Static<typeof OutboxSourceSchema>;
export type RawImage = NonNullable<RawTemplate['images']>[number];
