import { checkSource } from './check-fields.ts';
import { compileHtml } from './compile-html.ts';
import { CompileProblems, isStackOverflow } from './compile-problems.ts';
import {
  type CompiledField,
  type CompiledLink,
  type CompiledNode,
  type CompiledTemplate,
  type CompiledVersion,
  currentFormat,
  type FieldPart,
  type MarkupFormat,
  type PartUses,
} from './compiled-template.ts';
import { convertMjml, extractPreviewText } from './convert-mjml.ts';
import { deriveText } from './derive-text.ts';
import { describeReadable } from './field-format.ts';
import { indexFields } from './field-index.ts';
import { guardsOf } from './guarded-field.ts';
import { findImageUses, noImageUses } from './image-uses.ts';
import { inlineCss } from './inline-css.ts';
import { type Markup, parseMarkup } from './parse-markup.ts';
import { plainNodes } from './parse-override.ts';
import { protectMarkup } from './protect-markup.ts';
import { FieldResolver, type ReportTag, UseCollector } from './resolve-fields.ts';
import { fixedBytes } from './size-bounds.ts';
import { findUnreadable, missingFields, requiredNames } from './template-fields.ts';
import { MAX_LINE_LENGTH, MAX_RENDERED_BYTES, MAX_RENDERED_TEXT } from './template-limits.ts';
import { sourcePositionOf, type TemplatePart, type TemplateProblem } from './template-problem.ts';
import type { FieldSettings, TemplateImage, TemplateSource } from './template-source.ts';

export interface CompileResult {
  /** `null` if `problems` contains an error. */
  readonly compiled: CompiledVersion | null;
  /** Those in use, then lists and objects that are only declared. */
  readonly fields: readonly CompiledField[];
  readonly problems: readonly TemplateProblem[];
}

/** The result for one content. */
export interface CompiledSource extends CompileResult {
  readonly compiled: CompiledTemplate | null;
  /** Declared fields that it doesn't use, as paths. */
  readonly unused: readonly string[];
  /** The contentIds of images that it doesn't show. */
  readonly unusedImages: readonly string[];
}

interface SourceJob {
  readonly source: TemplateSource;
  readonly format?: MarkupFormat | undefined;
  /** Names that count as declared outside of lists, though the settings don't have them. */
  readonly known?: readonly string[];
  /** The HTML stays as it is: its CSS isn't inlined, and no text is derived from it. */
  readonly asWritten?: boolean;
}

/**
 * Compiles one content, without variants. Problems of the template are in the result; it throws only on internal errors.
 */
export async function compileSource({
  source,
  format = currentFormat,
  known = [],
  asWritten = false,
}: SourceJob): Promise<CompiledSource> {
  const problems = new CompileProblems();
  const clean = checkSource(source, problems);
  if (problems.hasErrors) return failed(problems);
  try {
    return await new SourceCompiler(clean, format, problems, known, asWritten).compile();
  } catch (error) {
    if (!isStackOverflow(error)) throw error;
    const part = clean.mjml === undefined ? 'html' : 'mjml';
    problems.error(part, 'nested-too-deeply', 'has elements nested too deeply');
    return failed(problems);
  }
}

function failed(problems: CompileProblems): CompiledSource {
  return { compiled: null, fields: [], problems: problems.list, unused: [], unusedImages: [] };
}

interface Bodies {
  readonly html: readonly CompiledNode[] | null;
  readonly text: readonly CompiledNode[] | null;
  readonly links: readonly CompiledLink[];
}

class SourceCompiler {
  readonly #source: TemplateSource;
  readonly #format: MarkupFormat;
  readonly #problems: CompileProblems;
  readonly #settings: ReadonlyMap<string, FieldSettings>;
  readonly #known: readonly string[];
  readonly #asWritten: boolean;
  #imageUses = noImageUses;

  constructor(
    source: TemplateSource,
    format: MarkupFormat,
    problems: CompileProblems,
    known: readonly string[],
    asWritten: boolean,
  ) {
    this.#source = source;
    this.#format = format;
    this.#problems = problems;
    this.#known = known;
    this.#asWritten = asWritten;
    this.#settings = new Map(Object.entries(source.fields ?? {}));
  }

  async compile(): Promise<CompiledSource> {
    const extracted = this.#extractPreview();
    const subject = this.#plain('subject', this.#source.subject);
    const previewText = this.#plain('previewText', extracted.previewText ?? '');
    const bodies = await this.#bodies(extracted.mjml);
    this.#limitSize(bodies);
    const resolved = this.#resolve({ subject, previewText, ...bodies }, extracted);
    const { resolver, uses, ...parts } = resolved;
    const fields = resolver.compiledFields();
    const problems = this.#problems.list;
    const { images = [] } = this.#source;
    const shown = images.filter(({ contentId }) => this.#imageUses.has(contentId));
    const rest = {
      fields,
      problems,
      unused: resolver.unusedNames(),
      unusedImages: images
        .filter((image) => !shown.includes(image))
        .map((image) => image.contentId),
    };
    if (this.#problems.hasErrors) return { compiled: null, ...rest };
    this.#warnOfImages(images);
    const guards = guardsOf(this.#source.fields ?? {});
    const compiled: CompiledTemplate = {
      format: this.#format,
      ...parts,
      fields,
      ...(guards === undefined ? {} : { guards }),
      required: requiredNames(fields),
      ...(uses === undefined ? {} : { uses }),
      ...(shown.length === 0 ? {} : { images: shown }),
    };
    this.#checkDefaults(compiled);
    return { compiled: this.#problems.hasErrors ? null : compiled, ...rest };
  }

  /** Finds out which field each tag means, once all parts are known. */
  #resolve(
    parts: Bodies & Pick<CompiledTemplate, 'subject' | 'previewText'>,
    extracted: { readonly mjml: string | undefined; readonly previewText: string | undefined },
  ) {
    const resolver = FieldResolver.forSettings(this.#source.fields ?? {}, this.#known);
    for (const part of ['subject', 'previewText', 'html', 'text'] as const)
      resolver.explore(parts[part] ?? []);
    resolver.settle();
    const links = [...parts.links];
    const markup = extracted.mjml === undefined ? 'html' : 'mjml';
    const sources: Readonly<Record<FieldPart, readonly [TemplatePart, string] | undefined>> = {
      subject: ['subject', this.#source.subject],
      previewText: ['previewText', extracted.previewText ?? ''],
      html: [markup, extracted.mjml ?? this.#source.html ?? ''],
      // A text that is derived has the tags of the HTML.
      text: this.#source.text === undefined ? undefined : ['text', this.#source.text],
    };
    const collectors = {
      subject: new UseCollector(),
      previewText: new UseCollector(),
      body: new UseCollector(),
    };
    const resolve = (part: FieldPart, nodes: readonly CompiledNode[]): CompiledNode[] => {
      const [name, source] = sources[part] ?? sources.html ?? [markup, ''];
      const uses = collectors[part === 'html' || part === 'text' ? 'body' : part];
      const report = this.#reportAt(name, source);
      return resolver.resolve(nodes, part, report, uses, links);
    };
    const subject = resolve('subject', parts.subject);
    const previewText = resolve('previewText', parts.previewText);
    const html = parts.html && resolve('html', parts.html);
    const text = parts.text && resolve('text', parts.text);
    const isUnused = Object.values(collectors).every((collector) => collector.isEmpty);
    const uses: PartUses | undefined = isUnused
      ? undefined
      : {
          subject: collectors.subject.finish(),
          previewText: collectors.previewText.finish(),
          body: collectors.body.finish(),
        };
    return { resolver, uses, subject, previewText, html, text, links };
  }

  #reportAt(part: TemplatePart, source: string): ReportTag {
    return (at, rule, message) => {
      const position = at === undefined ? undefined : sourcePositionOf(source, at);
      this.#problems.error(part, rule, message, position);
    };
  }

  /** The items of a default need values like those of a request. */
  #checkDefaults(compiled: CompiledTemplate): void {
    const defaults = Object.fromEntries(
      compiled.fields.flatMap(({ name, default: value }) =>
        value === undefined ? [] : [[name, value]],
      ),
    );
    for (const place of missingFields(compiled, defaults)) {
      if (compiled.fields.some(({ name }) => name === place)) continue;
      this.#problems.error('fields', 'bad-value', `a default has no value for ${place}`);
    }
    const index = indexFields(compiled.fields);
    for (const { place, format } of findUnreadable(compiled, index, defaults))
      this.#problems.error(
        'fields',
        'unreadable-value',
        `the default of ${place} must be ${describeReadable(format)}`,
      );
  }

  /** Sources are limited already, but MJML and styles can expand them many times over. */
  #limitSize({ html, text }: Pick<Bodies, 'html' | 'text'>): void {
    const source = this.#source.mjml === undefined ? 'html' : 'mjml';
    for (const [part, nodes] of [
      [source, html],
      ['text', text],
    ] as const) {
      if (nodes === null || fixedBytes(nodes) <= MAX_RENDERED_BYTES) continue;
      this.#problems.error(part, 'too-large', `renders to a part larger than ${MAX_RENDERED_TEXT}`);
    }
  }

  #extractPreview(): { mjml: string | undefined; previewText: string | undefined } {
    const { mjml, previewText } = this.#source;
    if (mjml === undefined) return { mjml, previewText };
    const extracted = extractPreviewText(mjml);
    if (previewText !== undefined && extracted.previewText !== undefined) {
      this.#problems.warning(
        'mjml',
        'two-previews',
        'the template’s preview text is used instead of <mj-preview>',
      );
    }
    // The preview text of the source was checked already.
    if ((extracted.previewText ?? '').length > MAX_LINE_LENGTH) {
      this.#problems.error(
        'mjml',
        'too-long',
        `<mj-preview> is longer than ${MAX_LINE_LENGTH} characters`,
      );
    }
    return { mjml: extracted.mjml, previewText: previewText ?? extracted.previewText };
  }

  #plain(part: TemplatePart, source: string): CompiledNode[] {
    const markup = this.#parse(part, source);
    return markup === undefined ? [] : plainNodes(markup.nodes, markup.tags);
  }

  #parse(part: TemplatePart, source: string): Markup | undefined {
    const parsed = parseMarkup(source, this.#format);
    if (parsed.ok) return parsed.markup;
    const { rule, message, position } = parsed.error;
    this.#problems.error(part, rule, message, position);
    return undefined;
  }

  async #bodies(mjml: string | undefined): Promise<Bodies> {
    const { html, text } = this.#source;
    const givenText = text === undefined ? null : this.#plain('text', text);
    const source = mjml ?? html;
    if (source === undefined) return { html: null, text: givenText, links: [] };
    const part = mjml === undefined ? 'html' : 'mjml';
    const markup = this.#parse(part, source);
    if (markup === undefined) return { html: null, text: givenText, links: [] };
    return this.#fromHtml(part, source, markup, givenText);
  }

  async #fromHtml(
    part: 'html' | 'mjml',
    source: string,
    markup: Markup,
    givenText: CompiledNode[] | null,
  ): Promise<Bodies> {
    const protectedSource = protectMarkup(source, markup);
    const { placeholders } = protectedSource;
    const noBodies: Bodies = { html: null, text: givenText, links: [] };
    const problems = this.#problems.forSource(part, source);
    const isSecret = (name: string): boolean => this.#settings.get(name)?.secret === true;
    let finished = protectedSource.text;
    if (part === 'mjml') {
      const html = await convertMjml(protectedSource, this.#problems);
      if (html === undefined) return noBodies;
      finished = html;
    } else if (!this.#asWritten) {
      // Before the CSS is inlined: inlining could move or lose a field in a style sheet.
      compileHtml(finished, placeholders, isSecret, problems);
      if (this.#problems.hasErrors) return noBodies;
      try {
        finished = await inlineCss(finished, placeholders);
      } catch (error) {
        if (isStackOverflow(error)) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        this.#problems.error(
          'html',
          'css',
          `The CSS can’t be inlined: ${placeholders.reveal(reason)}`,
        );
        return noBodies;
      }
    }
    const { nodes, links } = compileHtml(finished, placeholders, isSecret, problems);
    this.#reportLost(
      part,
      source,
      markup,
      placeholders.find(finished).map(({ tag }) => tag),
    );
    if (this.#problems.hasErrors) return noBodies;
    this.#imageUses = findImageUses(finished, placeholders);
    const text =
      givenText ??
      (this.#asWritten
        ? null
        : await deriveText(finished, placeholders, problems, (name) => this.#isList(name)));
    return { html: nodes, text, links };
  }

  /** True for the name of a list, wherever it is declared: its section is shown for each item. */
  #isList(name: string, fields: TemplateSource['fields'] = this.#source.fields): boolean {
    return Object.entries(fields ?? {}).some(
      ([own, { kind, fields: inner }]) =>
        (own === name && kind === 'list') || this.#isList(name, inner ?? {}),
    );
  }

  /** A `cid:` without an image isn't an error, because a request can bring an attachment with that contentId. */
  #warnOfImages(images: readonly TemplateImage[]): void {
    const own = new Set(images.map(({ contentId }) => contentId));
    const part = this.#source.mjml === undefined ? 'html' : 'mjml';
    for (const id of this.#imageUses.ids)
      if (!own.has(id))
        this.#problems.warning(
          part,
          'unknown-image',
          `shows cid:${id}, which is not an image of the template: each request must bring an attachment with the contentId ${id}`,
        );
  }

  /** MJML drops text between its elements, and a section that loses one of its tags would break the rest. */
  #reportLost(part: 'html' | 'mjml', source: string, markup: Markup, found: Markup['tags']): void {
    const kept = new Set(found);
    const problems = this.#problems.forSource(part, source);
    const hint = part === 'mjml' ? ': between MJML elements, wrap the tag in <mj-raw>' : '';
    for (const tag of markup.tags) {
      if (tag.kind !== 'comment' && !kept.has(tag)) {
        problems.error(tag, 'field-lost', `is in a place that is never shown${hint}`);
      }
    }
  }
}
