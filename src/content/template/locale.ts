import type { CompiledTemplate, CompiledVersion } from './compiled-template.ts';

/** RFC 4646 section 4.3.1: buffers of 35 characters hold every tag that is in use. */
export const maxLocaleLength = 35;

/** How dates and numbers are written where no locale says otherwise. */
const defaultLocale = 'en-US';

/** The language of a template that declares none. */
const defaultLanguage = 'en';

/** What is wrong with a locale, for error messages. */
export const localeReason = `must be a BCP 47 language tag of at most ${maxLocaleLength} characters, such as de or pt-BR`;

/** The canonical form of a language tag (BCP 47); undefined if it isn't well-formed or too long. */
export function canonicalLocale(text: string): string | undefined {
  if (text.length > maxLocaleLength) return undefined;
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    return undefined;
  }
}

/**
 * The best match by look-up (RFC 4647 section 3.4); undefined if none matches.
 * @param requested canonical, as the available ones are
 */
export function lookUpLocale(requested: string, available: readonly string[]): string | undefined {
  for (let range = requested; ; ) {
    if (available.includes(range)) return range;
    const end = range.lastIndexOf('-');
    if (end === -1) return undefined;
    // A subtag of one character introduces those after it, and means nothing without them.
    range = range.slice(0, range[end - 2] === '-' ? end - 2 : end);
  }
}

/**
 * The locale for dates and numbers: the requested one where it refines that of the text, so that no text has dates in
 * another language.
 * @param text the locale of the content that is used; undefined: the template declares none
 */
export function formattingLocale(text: string | undefined, requested: string | undefined): string {
  if (requested !== undefined && refines(requested, text ?? defaultLanguage)) return requested;
  return text ?? defaultLocale;
}

/** True if a locale is another one with details, in the same script: zh-Hant doesn't refine zh. */
function refines(requested: string, text: string): boolean {
  if (requested === text) return true;
  return requested.startsWith(`${text}-`) && scriptOf(requested) === scriptOf(text);
}

function scriptOf(locale: string): string | undefined {
  return new Intl.Locale(locale).maximize().script;
}

/**
 * The locale of the variant that is sent for a locale; undefined: the default content.
 * @param requested canonical
 */
export function matchVariant(
  { locale: own, locales }: Pick<CompiledTemplate, 'locale' | 'locales'>,
  requested: string | undefined,
): string | undefined {
  if (locales === undefined || requested === undefined) return undefined;
  const matched = lookUpLocale(requested, own === undefined ? locales : [...locales, own]);
  return matched === own ? undefined : matched;
}

/** The content of a compiled version for a locale; its fields are those of the version. */
export function localizeVersion(
  version: CompiledVersion,
  requested: string | undefined,
): CompiledTemplate {
  const { variants = {}, ...base } = version;
  const locale = matchVariant(version, requested);
  const variant = locale === undefined ? undefined : variants[locale];
  if (variant === undefined) return base;
  const { images: _, ...shared } = base;
  return { ...shared, ...variant, locale };
}
