import type { Problem } from '../errors.ts';

/** A field of a template, as `template.yaml` and the management API describe it. */
export interface FakeField {
  /** Default: `text`. */
  readonly kind?: 'text' | 'list' | 'object';
  /** Used if a send has no value; a field without a default is required. */
  readonly default?: unknown;
  /** The fields of a list's items, or of an object. */
  readonly fields?: Readonly<Record<string, FakeField>>;
}

export type FakeFields = Readonly<Record<string, FakeField>>;

/** The members of a send body that the rules check. */
export interface FakeBody {
  readonly envelope: {
    readonly toAddress: string;
    readonly toDisplayName?: string;
    readonly ccAddressList?: readonly string[];
    readonly bccAddressList?: readonly string[];
    readonly fromAddress?: string;
    readonly replyToAddress?: string;
  };
  readonly content?: {
    readonly subjectLine?: string;
    readonly previewText?: string;
    readonly personalizationDataMap?: Readonly<Record<string, unknown>>;
    readonly locale?: string;
    readonly attachments?: readonly unknown[];
    readonly headers?: Readonly<Record<string, string>>;
  };
  readonly metadata?: {
    readonly externalId?: string;
    readonly tagList?: readonly string[];
    readonly attributes?: Readonly<Record<string, string>>;
  };
}

const maxListItems = 500;

/** The rules of contract 2.2 and 8 for a body. */
export function bodyProblems(
  { envelope, content, metadata }: FakeBody,
  fields: FakeFields,
): Problem[] {
  const problems: Problem[] = [];
  const add = (field: string, reason: string) => problems.push({ field, reason });
  const limit = (field: string, text: string | undefined, max: number) => {
    // Lengths count code points.
    if (text !== undefined && [...text].length > max)
      add(field, `must not be longer than ${max} characters`);
  };
  const count = (field: string, list: { readonly length: number } | undefined, max: number) => {
    if (list !== undefined && list.length > max)
      add(field, `must not have more than ${max} ${max === 1 ? 'entry' : 'entries'}`);
  };
  limit('envelope.toDisplayName', envelope.toDisplayName, 200);
  count('envelope.ccAddressList', envelope.ccAddressList, 5);
  count('envelope.bccAddressList', envelope.bccAddressList, 5);
  limit('content.subjectLine', content?.subjectLine, 90);
  limit('content.previewText', content?.previewText, 240);
  count('content.attachments', content?.attachments, 20);
  limit('metadata.externalId', metadata?.externalId, 128);
  count('metadata.attributes', metadata?.attributes && Object.keys(metadata.attributes), 20);
  for (const [index, tag] of (metadata?.tagList ?? []).entries()) {
    limit(`metadata.tagList[${index}]`, tag, 48);
    if (tag === '') add(`metadata.tagList[${index}]`, 'must not be empty');
  }
  const { locale } = content ?? {};
  if (locale !== undefined && locale !== '' && !isLocale(locale))
    add(
      'content.locale',
      'must be a BCP 47 language tag of at most 35 characters, such as de or pt-BR',
    );
  problems.push(...addressProblems(envelope));
  for (const [name, value] of Object.entries(content?.personalizationDataMap ?? {}))
    problems.push(...valueProblems(value, fields[name], `content.personalizationDataMap.${name}`));
  return problems;
}

function addressProblems(envelope: FakeBody['envelope']): Problem[] {
  const {
    toAddress,
    fromAddress,
    replyToAddress,
    ccAddressList = [],
    bccAddressList = [],
  } = envelope;
  const addresses: [field: string, text: string | undefined][] = [
    ['envelope.toAddress', toAddress],
    ...ccAddressList.map((text, at): [string, string] => [`envelope.ccAddressList[${at}]`, text]),
    ...bccAddressList.map((text, at): [string, string] => [`envelope.bccAddressList[${at}]`, text]),
    // An optional "" is absent.
    ['envelope.fromAddress', fromAddress || undefined],
    ['envelope.replyToAddress', replyToAddress || undefined],
  ];
  return addresses.flatMap(([field, text]) => {
    if (text === undefined) return [];
    const wrong = text === '' ? 'is required' : reasonOf(text);
    return wrong === undefined ? [] : [{ field, reason: wrong }];
  });
}

const atoms = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const domainName =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Why an ASCII address is invalid; the service checks international ones more strictly. */
function reasonOf(text: string): string | undefined {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  const domain = text.slice(at + 1);
  const is = 'is not an email address: it';
  if (at === -1) return `${is} has no @`;
  if (local === '') return `${is} has nothing before the @`;
  if (domain === '') return `${is} has nothing after the @`;
  if (!atoms.test(local) && (isAscii(local) || /[\p{C}\p{Z}]/u.test(local)))
    return `${is} ${reasonForLocal(local)}`;
  if (local.length > 64) return `${is} has more than 64 octets before the @`;
  if (isAscii(domain) && domain !== 'localhost' && !domainName.test(domain))
    return `${is} has no valid domain after the @`;
  return text.length > 254 ? `${is} is longer than 254 octets` : undefined;
}

function reasonForLocal(local: string): string {
  if (/\p{C}/u.test(local)) return 'has control characters';
  if (/\p{Z}/u.test(local)) return 'has spaces';
  if (local.startsWith('"')) return 'has a quoted part before the @, which is not supported';
  if (local.startsWith('.') || local.endsWith('.') || local.includes('..'))
    return 'has a misplaced dot before the @';
  return 'has invalid characters before the @';
}

function isAscii(text: string): boolean {
  return /^\p{ASCII}*$/u.test(text);
}

function isLocale(text: string): boolean {
  try {
    return text.length <= 35 && Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}

/** @param field undefined: not a field of the template; its value is ignored if it is a string */
function valueProblems(value: unknown, field: FakeField | undefined, place: string): Problem[] {
  const kind = field?.kind ?? 'text';
  const wrong = (reason: string): Problem[] => [{ field: place, reason }];
  if (kind === 'text') return typeof value === 'string' ? [] : wrong('must be a string');
  if (kind === 'object')
    return isRecord(value) ? recordProblems(value, field, place) : wrong('must be an object');
  if (!Array.isArray(value)) return wrong('must be an array');
  if (value.length > maxListItems) return wrong(`must not have more than ${maxListItems} items`);
  return value.flatMap((item, index) =>
    isRecord(item)
      ? recordProblems(item, field, `${place}[${index}]`)
      : [{ field: `${place}[${index}]`, reason: 'must be an object' }],
  );
}

function recordProblems(
  record: Readonly<Record<string, unknown>>,
  field: FakeField | undefined,
  place: string,
): Problem[] {
  return Object.entries(record).flatMap(([name, value]) =>
    valueProblems(value, field?.fields?.[name], `${place}.${name}`),
  );
}

/** Contract 4.3 rule 3: the places without a value and without a default. An empty string is a value. */
export function missingPlaces(
  values: Readonly<Record<string, unknown>>,
  fields: FakeFields,
): string[] {
  const required = Object.keys(fields).filter((name) => fields[name]?.default === undefined);
  const missing = required.filter((name) => !Object.hasOwn(values, name));
  const nested = Object.entries(fields).flatMap(([name, field]) =>
    Object.hasOwn(values, name) ? missingWithin(values[name], field, name) : [],
  );
  return [...missing, ...nested];
}

function missingWithin(value: unknown, { fields = {} }: FakeField, place: string): string[] {
  // A template doesn't show an empty object.
  if (isRecord(value) && Object.keys(value).length === 0) return [];
  const records = Array.isArray(value)
    ? value.map((item, index) => [`${place}[${index}]`, item] as const)
    : [[place, value] as const];
  return records.flatMap(([where, record]) =>
    isRecord(record) ? missingPlaces(record, fields).map((name) => `${where}.${name}`) : [],
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
