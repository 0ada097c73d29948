import type { CompiledTemplate, CompiledVersion } from './compiled-template.ts';
import { lookUpLocale } from './locale.ts';

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
