import { type Static, Type } from 'typebox';
import { roles } from '../account/account.ts';
import { maxPasswordLength } from '../account/hash-password.ts';

/** Ids of accounts, integrations, templates and lists. */
function PublicId(description: string) {
  return Type.String({
    description,
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    patternErrorMessage: 'must be 1 to 64 letters, digits, - and _',
  });
}

/** What people call something: blanks alone would show nothing to choose. */
export function Name(description: string) {
  return Type.String({
    description,
    maxLength: 200,
    pattern: '\\S',
    patternErrorMessage: 'is empty or blank',
  });
}

function Address(description: string) {
  return Type.String({ description, minLength: 3, maxLength: 320 });
}

function Flag(description: string) {
  return Type.Optional(Type.Boolean({ description }));
}

const strict = { additionalProperties: false } as const;

/** Max characters of a source as it is given; publishing has a lower limit. A manifest's file may have as many bytes. */
export const maxSourceText = 2 * 1024 * 1024;

/** Max characters of a subject or preview text as it is given; publishing has a lower limit. */
const maxLineText = 10_000;

/** Max characters of a text of a field as it is given; publishing has a lower limit. */
const maxFieldText = 20_000;

/** Max entries of a list in a manifest. */
const maxEntries = 10_000;

const path = { minLength: 1, maxLength: 4_096 } as const;

/** Text in the manifest itself, or the file beside it that holds the text. */
function TextOrFile(description: string) {
  return Type.Union(
    [
      Type.String({ maxLength: maxSourceText }),
      Type.Object(
        {
          file: Type.String({
            description: 'Path of a UTF-8 file, relative to the manifest.',
            ...path,
          }),
        },
        strict,
      ),
    ],
    { description },
  );
}

export const UserSchema = Type.Object(
  {
    email: Address('Names the person, in every account and without regard to case.'),
    name: Type.Optional(Name('How the person is called.')),
    password: Type.Optional(
      Type.String({
        description:
          'At least 12 characters; better a reference to the environment. Set for users without one only; nobody’s password is changed.',
        maxLength: maxPasswordLength,
      }),
    ),
    role: Type.Enum([...roles], {
      description:
        'What the person may do in this account; `service` is for programs, which only send and read the status of messages.',
    }),
    operator: Flag(
      'Whether the person looks after the installation as a whole. While nobody does, whoever owns every account is operator.',
    ),
  },
  { ...strict, description: 'A person who acts in the account.' },
);

export const SenderSchema = Type.Object(
  {
    address: Address('The address to send from.'),
    displayNames: Type.Optional(
      Type.Array(Name('A name to send under; "*" allows any.'), {
        description: 'Names that may stand beside the address; the first one is the default.',
        uniqueItems: true,
        maxItems: 100,
      }),
    ),
    verified: Flag('Whether the address may be used. Only you can know; default false.'),
  },
  { ...strict, description: 'An address that the account sends from.' },
);

export const IntegrationSchema = Type.Object(
  {
    clientId: PublicId('The client id, unique in the installation.'),
    clientSecret: Type.Optional(
      Type.String({
        description:
          'At least 24 printable ASCII characters; better a reference to the environment. Needed for a new integration.',
        maxLength: 1_000,
      }),
    ),
    name: Name('Shown to people who are asked to authorize it.'),
    redirectUri: Type.Optional(
      Type.String({
        description:
          'Where grant codes go: https, or http on the loopback, or the scheme of an installed program. Default https://localhost/callback.',
        maxLength: 2_000,
      }),
    ),
    grants: Type.Optional(
      Type.Array(Type.Enum(['password', 'authorization_code', 'refresh_token']), {
        description: 'Default: authorization_code and refresh_token.',
        uniqueItems: true,
        minItems: 1,
        maxItems: 3,
      }),
    ),
  },
  { ...strict, description: 'A program that calls the service.' },
);

const FieldSchema = Type.Object(
  {
    default: Type.Optional(
      Type.String({
        description: 'Taken where a request gives no value; may be empty.',
        maxLength: maxFieldText,
      }),
    ),
    sample: Type.Optional(
      Type.String({ description: 'For previews and examples.', maxLength: maxFieldText }),
    ),
    description: Type.Optional(
      Type.String({ description: 'For people who send with it.', maxLength: maxFieldText }),
    ),
    secret: Flag('Its values are masked, its links never tracked, both erased at the end.'),
  },
  strict,
);

export const TemplateSchema = Type.Object(
  {
    id: PublicId('The template id of the send operation.'),
    name: Name('How people call the template.'),
    createdBy: Address('The e-mail address of a user of the account.'),
    sender: Type.Optional(
      Address('The sender where a request names none. Default: the address of `createdBy`.'),
    ),
    subject: Type.String({ description: 'With {{fields}}.', minLength: 1, maxLength: maxLineText }),
    previewText: Type.Optional(
      Type.String({
        description: 'Shown by mail programs beside the subject. With {{fields}}.',
        maxLength: maxLineText,
      }),
    ),
    html: Type.Optional(TextOrFile('The HTML part, with {{fields}}; or use `mjml`.')),
    mjml: Type.Optional(TextOrFile('The HTML part as MJML, with {{fields}}; or use `html`.')),
    text: Type.Optional(TextOrFile('The text part. Default: made from the HTML.')),
    fields: Type.Optional(
      Type.Unsafe<Record<string, Static<typeof FieldSchema>>>({
        type: 'object',
        description: 'What is to be known about the fields, by their names.',
        maxProperties: 1_000,
        propertyNames: { type: 'string', maxLength: 1_000 },
        additionalProperties: FieldSchema,
      }),
    ),
    freshnessMinutes: Type.Optional(
      Type.Integer({
        description:
          'How long a message may be under way that is not to be delivered late (deliveryWhenDelayed FALSE). Default 15.',
        minimum: 1,
        maximum: 20_160,
      }),
    ),
    whenUncertain: Type.Optional(
      Type.Enum(['resend', 'hold'], {
        description:
          'What becomes of a message that the receiver may have taken, as it said nothing to its end: sent again with the same Message-ID, or held for a person. Default resend.',
      }),
    ),
  },
  { ...strict, description: 'A template; a change of its content publishes a new version.' },
);

export const ListSchema = Type.Object(
  {
    id: PublicId('The list id, such as l-0001.'),
    name: Name('How people call the list.'),
    folderName: Type.Optional(Type.String({ description: 'Where it is filed.', maxLength: 200 })),
    description: Type.Optional(Type.String({ description: 'What it is for.', maxLength: 1_000 })),
    csv: Type.Optional(
      Type.String({
        description:
          'Path of a UTF-8 CSV file, relative to the manifest. Its first row names the columns, one of them `email`.',
        ...path,
      }),
    ),
  },
  { ...strict, description: 'A contact list.' },
);

function QuotaLimit(description: string) {
  return Type.Optional(Type.Integer({ description, minimum: 0, maximum: 1_000_000_000 }));
}

const QuotaSchema = Type.Object(
  {
    perHour: QuotaLimit('Of a clock hour.'),
    perDay: QuotaLimit('Of a day in UTC.'),
  },
  {
    ...strict,
    description:
      'Most messages that are accepted of the account. A member that is left out is no limit; `{}` is no quota at all.',
  },
);

export const AccountSchema = Type.Object(
  {
    id: PublicId('The account id of the send operation.'),
    name: Name('How people call the account.'),
    addOns: Type.Optional(
      Type.Array(Type.Enum(['transactional']), {
        description: 'What the account may do beyond the rest. Default: nothing.',
        uniqueItems: true,
        maxItems: 1,
      }),
    ),
    suspended: Flag('A suspended account can send nothing. Default false.'),
    retentionDays: Type.Optional(
      Type.Enum([30, 90, 400], { description: 'How long messages are kept. Default 90.' }),
    ),
    quota: Type.Optional(QuotaSchema),
    users: Type.Optional(Type.Array(UserSchema, { maxItems: maxEntries })),
    senders: Type.Optional(Type.Array(SenderSchema, { maxItems: maxEntries })),
    integrations: Type.Optional(Type.Array(IntegrationSchema, { maxItems: maxEntries })),
    templates: Type.Optional(Type.Array(TemplateSchema, { maxItems: maxEntries })),
    lists: Type.Optional(Type.Array(ListSchema, { maxItems: maxEntries })),
  },
  { ...strict, description: 'An account with what belongs to it.' },
);

/** The format of a manifest: strict, so that a misspelt member is named instead of being passed over. */
export const ManifestSchema = Type.Object(
  {
    $schema: Type.Optional(
      Type.String({ description: 'For editors; says where this schema is.', maxLength: 2_000 }),
    ),
    accounts: Type.Array(AccountSchema, { minItems: 1, maxItems: maxEntries }),
  },
  {
    ...strict,
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Signalpost manifest',
    description: [
      'What `signalpost apply` sets up. What a manifest leaves out of something that exists stays as it is.',
      `Any string may contain \${NAME}, the environment variable of that name; write $\${ for the characters \${.`,
    ].join(' '),
  },
);

export type RawManifest = Static<typeof ManifestSchema>;
export type RawAccount = Static<typeof AccountSchema>;
export type RawUser = Static<typeof UserSchema>;
export type RawSender = Static<typeof SenderSchema>;
export type RawIntegration = Static<typeof IntegrationSchema>;
export type RawTemplate = Static<typeof TemplateSchema>;
export type RawList = Static<typeof ListSchema>;
