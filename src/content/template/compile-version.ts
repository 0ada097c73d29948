import { CompileProblems } from './compile-problems.ts';
import { type CompiledSource, type CompileResult, compileSource } from './compile-source.ts';
import type { CompiledVersion, MarkupFormat } from './compiled-template.ts';
import { findForeignFields, mergeContract } from './field-contract.ts';
import { canonicalLocale, localeReason } from './locale.ts';
import { MAX_VARIANTS, MAX_VERSION_LENGTH } from './template-limits.ts';
import type { TemplateProblem } from './template-problem.ts';
import type { TemplateSource, VariantSource } from './template-source.ts';

/** What to compile. */
export interface CompileJob {
  readonly source: TemplateSource;
  /** How to read the markup: that of a version, or what is current. */
  readonly format?: MarkupFormat | undefined;
  /** For previews: only this variant is compiled; null: none is. Absent: all are. */
  readonly only?: string | null | undefined;
}

/**
 * Compiles a template with its variants in the calling thread, however long it takes; use `compileTemplate` everywhere
 * else. The fields of all variants together are the fields of the version, so that a request fits every locale.
 */
export async function compileVersion({ source, format, only }: CompileJob): Promise<CompileResult> {
  const { locale, variants = {}, ...own } = source;
  const problems = new CompileProblems();
  checkLocales(locale, Object.keys(variants), problems);
  checkTotalLength(source, problems);
  if (problems.hasErrors) return { compiled: null, fields: [], problems: problems.list };
  const base = await compileSource({ source: own, format });
  if (Object.keys(variants).length === 0) return finish(base, base.compiled, source);
  const compiled: CompiledVariantResult[] = [];
  for (const name of Object.keys(variants).sort()) {
    const content = variants[name];
    if (content === undefined || (only !== undefined && only !== name)) continue;
    compiled.push(await compileVariant(name, content, source, base, format));
  }
  return merge(base, compiled, source, only === undefined);
}

interface CompiledVariantResult {
  readonly locale: string;
  readonly result: CompiledSource;
  readonly problems: readonly TemplateProblem[];
}

async function compileVariant(
  locale: string,
  content: VariantSource,
  { fields = {}, images }: TemplateSource,
  base: CompiledSource,
  format: MarkupFormat | undefined,
): Promise<CompiledVariantResult> {
  // A name means the same in every language, so what the default content knows counts as declared.
  const known = base.fields.map(({ name }) => name);
  const result = await compileSource({
    source: { ...content, fields, ...(images === undefined ? {} : { images }) },
    format,
    known,
  });
  const reported = new Set(base.problems.map(({ part, message }) => `${part} ${message}`));
  const own = result.problems.filter(
    ({ part, message }) => part !== 'fields' || !reported.has(`${part} ${message}`),
  );
  const foreign =
    base.compiled === null ? [] : findForeignFields(fields, base.fields, result.fields, content);
  const problems = [...own, ...foreign].map((problem) => ({ ...problem, variant: locale }));
  return { locale, result, problems };
}

function merge(
  base: CompiledSource,
  variants: readonly CompiledVariantResult[],
  source: TemplateSource,
  complete: boolean,
): CompileResult {
  const results = [base, ...variants.map(({ result }) => result)];
  const contract = mergeContract(results);
  const problems = [...base.problems, ...variants.flatMap((variant) => variant.problems)];
  const isBroken = problems.some(({ severity }) => severity === 'error');
  if (base.compiled === null || isBroken)
    return { compiled: null, fields: contract.fields, problems };
  const compiled: CompiledVersion = {
    ...base.compiled,
    ...contract,
    variants: Object.fromEntries(
      variants.flatMap(({ locale, result }) => {
        if (result.compiled === null) return [];
        const { subject, previewText, html, text, links, images } = result.compiled;
        const shown = images === undefined ? {} : { images };
        return [[locale, { subject, previewText, html, text, links, ...shown }]];
      }),
    ),
  };
  const unused = unusedInAll(results, complete, (result) => result.unused);
  const unusedImages = unusedInAll(results, complete, (result) => result.unusedImages);
  return finish({ fields: contract.fields, problems, unused, unusedImages }, compiled, source);
}

function unusedInAll(
  results: readonly CompiledSource[],
  complete: boolean,
  unusedIn: (result: CompiledSource) => readonly string[],
): readonly string[] {
  const [base] = results;
  if (!complete || base === undefined) return [];
  return unusedIn(base).filter((name) =>
    results.every((result) => unusedIn(result).includes(name)),
  );
}

function finish(
  { fields, problems, unused, unusedImages }: Omit<CompiledSource, 'compiled'>,
  compiled: CompiledVersion | null,
  { locale, mjml, variants = {} }: TemplateSource,
): CompileResult {
  const severity = 'warning' as const;
  const warnings: readonly TemplateProblem[] = [
    ...unused.map((name) => ({
      severity,
      part: 'fields' as const,
      rule: 'unused-field',
      message: `the field ${name} is not used in the template`,
    })),
    ...unusedImages.map((id) => ({
      severity,
      part: mjml === undefined ? ('html' as const) : ('mjml' as const),
      rule: 'unused-image',
      message: `the image cid:${id} is not shown in the template`,
    })),
  ];
  const locales = Object.keys(variants).sort();
  return {
    compiled: compiled && {
      ...compiled,
      ...(locale === undefined ? {} : { locale }),
      ...(locales.length === 0 ? {} : { locales }),
    },
    fields,
    problems: compiled === null ? problems : [...problems, ...warnings],
  };
}

/** Checks the locale of the default content, and those of the variants. */
function checkLocales(
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
function checkTotalLength(source: TemplateSource, problems: CompileProblems): void {
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
