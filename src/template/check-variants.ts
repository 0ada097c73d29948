import type { CompileProblems } from './compile-problems.ts';
import { canonicalLocale, localeReason } from './locale.ts';
import { MAX_VARIANTS, MAX_VERSION_LENGTH } from './template-limits.ts';
import type { TemplateSource, VariantSource } from './template-source.ts';

/** Checks the locale of the default content, and those of the variants. */
export function checkLocales(
  own: string | undefined,
  variants: readonly string[],
  problems: CompileProblems,
): void {
  if (own !== undefined) checkTag('locale', own, problems);
  if (variants.length > MAX_VARIANTS) {
    problems.error('variants', 'too-many-variants', `has more than ${MAX_VARIANTS} variants`);
    return;
  }
  for (const locale of variants) {
    checkTag('variants', locale, problems);
    if (locale === own)
      problems.error(
        'variants',
        'duplicate-locale',
        `the locale ${locale} is that of the default content; remove the variant or change locale`,
      );
  }
}

function checkTag(part: 'locale' | 'variants', locale: string, problems: CompileProblems): void {
  const canonical = canonicalLocale(locale);
  if (canonical === locale) return;
  const shown = JSON.stringify(locale.slice(0, 100).toWellFormed());
  const reason = canonical === undefined ? localeReason : `must be written ${canonical}`;
  problems.error(part, 'bad-locale', `the locale ${shown} ${reason}`);
}

/** Limits the sources of a version together; each part has its own limit, too. */
export function checkTotalLength(source: TemplateSource, problems: CompileProblems): void {
  const { variants } = source;
  if (variants === undefined) return;
  const contents = [source, ...Object.values(variants)];
  const length = contents.reduce((sum, content) => sum + lengthOf(content), 0);
  if (length <= MAX_VERSION_LENGTH) return;
  problems.error(
    'variants',
    'too-long',
    `the default content and its variants are longer than ${MAX_VERSION_LENGTH} characters together`,
  );
}

function lengthOf({ subject, previewText = '', html = '', mjml = '', text = '' }: VariantSource) {
  return subject.length + previewText.length + html.length + mjml.length + text.length;
}
