/** What a helper does with a field's value, by the message's locale. */
export type FieldFormat =
  | { readonly helper: 'date'; readonly style: DateStyle }
  | { readonly helper: 'currency'; readonly code: string }
  | { readonly helper: 'number'; readonly pattern: string }
  | ({ readonly helper: 'plural'; readonly one: string; readonly other: string } & PluralForms);

/** Forms that some languages have beside `one` and `other` (Unicode Technical Standard 35, plural rules). */
type PluralForms = Partial<Readonly<Record<(typeof pluralForms)[number], string>>>;

const pluralForms = ['zero', 'two', 'few', 'many'] as const;

const dateStyles = ['full', 'long', 'medium', 'short'] as const;
type DateStyle = (typeof dateStyles)[number];

/** A helper always has a quoted argument, so that `{{date Due}}` stays the field `date Due`. */
const HELPER = /^(?:(?:date|currency|number)\s+"|plural\s[^"]*")/;
const ARGUMENT_FIRST = /^(date|currency|number)\s+"([^"]*)"\s+(\S(?:.*\S)?)$/s;
const PLURAL =
  /^plural\s+([^\s"](?:[^"]*[^\s"])?)\s+"([^"]*)"\s+"([^"]*)"((?:\s+(?:zero|two|few|many)\s+"[^"]*")*)$/;
const PLURAL_FORM = /(zero|two|few|many)\s+"([^"]*)"/g;
const PATTERN = /^(?:#,##)?0(?:\.0*#*)?$/;
const maxFractionDigits = 10;

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** Longer than any amount that means something; longer ones are not read. */
const maxValueLength = 40;
const DECIMAL = /^-?\d+(?:\.\d+)?$/;
/** ISO 8601: a day, with or without a time and its offset. */
const DATE =
  /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/;

/** A tag that calls a helper: the field and what to do with it, or what is wrong with the call. */
export type HelperCall =
  | { readonly name: string; readonly format: FieldFormat }
  | { readonly problem: string };

/** Reads the text of a tag; undefined where it is the name of a field. */
export function parseHelper(text: string): HelperCall | undefined {
  if (!HELPER.test(text)) return undefined;
  const plural = PLURAL.exec(text);
  if (plural !== null) {
    const [, name = '', one = '', other = '', more = ''] = plural;
    const forms = Object.fromEntries(
      Array.from(more.matchAll(PLURAL_FORM), ([, form = '', text = '']) => [form, text]),
    );
    return { name, format: { helper: 'plural', one, other, ...forms } };
  }
  if (text.startsWith('plural'))
    return {
      problem:
        'must be written as {{plural Field "one" "other"}}, with further forms such as few "…" at the end',
    };
  const [, helper = '', argument = '', name = ''] = ARGUMENT_FIRST.exec(text) ?? [];
  if (name === '' || name.includes('"'))
    return { problem: 'must be written as {{helper "argument" Field}}' };
  if (helper === 'date') return parseDateStyle(name, argument);
  return helper === 'currency' ? parseCurrency(name, argument) : parsePattern(name, argument);
}

function parseDateStyle(name: string, argument: string): HelperCall {
  const style = dateStyles.find((one) => one === argument);
  if (style === undefined) return { problem: `knows the styles ${dateStyles.join(', ')}` };
  return { name, format: { helper: 'date', style } };
}

function parseCurrency(name: string, code: string): HelperCall {
  if (!currencies.has(code)) return { problem: 'needs a currency of ISO 4217, such as "EUR"' };
  return { name, format: { helper: 'currency', code } };
}

function parsePattern(name: string, pattern: string): HelperCall {
  const fraction = pattern.slice(pattern.indexOf('.') + 1);
  if (!PATTERN.test(pattern) || (pattern.includes('.') && fraction.length > maxFractionDigits))
    return {
      problem: `needs a pattern such as "0", "0.00", "0.##" or "#,##0.00", with at most ${maxFractionDigits} decimals`,
    };
  return { name, format: { helper: 'number', pattern } };
}

/** What a helper reads, for error messages. */
export function describeReadable({ helper }: FieldFormat): string {
  return helper === 'date'
    ? 'a date of ISO 8601, such as 2026-01-31 or 2026-01-31T09:30:00Z'
    : 'a decimal number, such as 1234.5';
}

/** A value that the helper reads, for previews. */
export function exampleFor({ helper }: FieldFormat): string {
  if (helper === 'date') return '2026-01-31';
  return helper === 'plural' ? '2' : '1234.5';
}

/** True if the helper can read the value; an empty one stays empty. */
export function isReadable({ helper }: FieldFormat, value: string): boolean {
  if (value === '') return true;
  if (value.length > maxValueLength) return false;
  return helper === 'date' ? readDate(value) !== undefined : DECIMAL.test(value);
}

/** The value as the locale writes it. What the helper can't read, such as the mask of a secret, stays as it is. */
export function formatValue(format: FieldFormat, value: string, locale: string): string {
  if (value === '' || !isReadable(format, value)) return value;
  if (format.helper === 'plural') {
    const form = formatterFor(`${locale} plural`, () => pluralRules(locale))(value);
    return format[form as Intl.LDMLPluralRule] ?? format.other;
  }
  const { helper } = format;
  const argument =
    helper === 'date' ? format.style : helper === 'currency' ? format.code : format.pattern;
  return formatterFor(`${locale} ${helper} ${argument}`, () => makeFormatter(format, locale))(
    value,
  );
}

/** The day that is written, as midnight UTC: an offset says where it is that day, so nothing is converted. */
function readDate(value: string): Date | undefined {
  const [, year, month, day, hour = '00', minute = '00', second = '00'] = DATE.exec(value) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  if (hour > '23' || minute > '59' || second > '60') return undefined;
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime()) || date.getUTCDate() !== Number(day)) return undefined;
  return date;
}

type Formatter = (value: string) => string;

/** Making one takes some hundredths of a millisecond, so they are kept; the count is bounded, as templates choose them. */
const formatters = new Map<string, Formatter>();
const maxFormatters = 500;

function formatterFor(key: string, make: () => Formatter): Formatter {
  const cached = formatters.get(key);
  if (cached !== undefined) return cached;
  if (formatters.size >= maxFormatters) formatters.clear();
  const made = make();
  formatters.set(key, made);
  return made;
}

function pluralRules(locale: string): Formatter {
  const rules = new Intl.PluralRules(locale);
  return (value) => rules.select(Number(value));
}

function makeFormatter(
  format: Exclude<FieldFormat, { readonly helper: 'plural' }>,
  locale: string,
): Formatter {
  switch (format.helper) {
    case 'date': {
      const dates = new Intl.DateTimeFormat(locale, { dateStyle: format.style, timeZone: 'UTC' });
      return (value) => dates.format(readDate(value));
    }
    case 'currency':
      return decimals(new Intl.NumberFormat(locale, { style: 'currency', currency: format.code }));
    case 'number':
      return decimals(new Intl.NumberFormat(locale, optionsOf(format.pattern)));
  }
}

/** Digits are passed on as text: no amount is rounded to a binary number. */
function decimals(numbers: Intl.NumberFormat): Formatter {
  return (value) => numbers.format(value as Intl.StringNumericLiteral);
}

function optionsOf(pattern: string): Intl.NumberFormatOptions {
  const fraction = /\.(0*)(#*)$/.exec(pattern);
  const minimum = fraction?.[1]?.length ?? 0;
  return {
    useGrouping: pattern.startsWith('#'),
    minimumFractionDigits: minimum,
    maximumFractionDigits: minimum + (fraction?.[2]?.length ?? 0),
  };
}

/** The call as it is written in a template. */
export function writeHelper(format: FieldFormat, name: string): string {
  switch (format.helper) {
    case 'date':
      return `{{date "${format.style}" ${name}}}`;
    case 'currency':
      return `{{currency "${format.code}" ${name}}}`;
    case 'number':
      return `{{number "${format.pattern}" ${name}}}`;
    case 'plural':
      return `{{plural ${name} "${format.one}" "${format.other}"${pluralForms
        .flatMap((form) => (format[form] === undefined ? [] : ` ${form} "${format[form]}"`))
        .join('')}}}`;
  }
}
