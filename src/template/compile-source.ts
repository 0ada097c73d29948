import { checkSource } from './check-source.ts';
import { compileHtml } from './compile-html.ts';
import { CompileProblems } from './compile-problems.ts';
import type {
  CompiledField,
  CompiledLink,
  CompiledNode,
  CompiledTemplate,
  FieldPart,
} from './compiled-template.ts';
import { convertMjml, extractPreviewText } from './convert-mjml.ts';
import { deriveText } from './derive-text.ts';
import { inlineCss } from './inline-css.ts';
import { isStackOverflow } from './is-stack-overflow.ts';
import { type Markup, parseMarkup } from './parse-markup.ts';
import { plainNodes } from './parse-override.ts';
import { protectMarkup } from './protect-markup.ts';
import { fixedBytes } from './size-bounds.ts';
import { inferFields, requiredNames } from './template-fields.ts';
import { MAX_LINE_LENGTH, MAX_RENDERED_BYTES, MAX_RENDERED_TEXT } from './template-limits.ts';
import type { TemplatePart, TemplateProblem } from './template-problem.ts';
import type { FieldSettings, TemplateSource } from './template-source.ts';

/** A field in use, with its settings and the parts that use it. */
interface TemplateField extends FieldSettings {
  readonly name: string;
  readonly parts: readonly FieldPart[];
}

export interface CompileResult {
  /** `null` if `problems` contains an error. */
  readonly compiled: CompiledTemplate | null;
  readonly fields: readonly TemplateField[];
  readonly problems: readonly TemplateProblem[];
}

/**
 * Compiles in the calling thread, however long it takes; use `compileTemplate` everywhere else. Problems of the
 * template are in the result; it throws only on internal errors.
 */
export async function compileSource(source: TemplateSource): Promise<CompileResult> {
  const problems = new CompileProblems();
  const clean = checkSource(source, problems);
  if (problems.hasErrors) return { compiled: null, fields: [], problems: problems.list };
  try {
    return await new SourceCompiler(clean, problems).compile();
  } catch (error) {
    if (!isStackOverflow(error)) throw error;
    const part = clean.mjml === undefined ? 'html' : 'mjml';
    problems.error(part, 'nested-too-deeply', 'has elements nested too deeply');
    return { compiled: null, fields: [], problems: problems.list };
  }
}

interface Bodies {
  readonly html: readonly CompiledNode[] | null;
  readonly text: readonly CompiledNode[] | null;
  readonly links: readonly CompiledLink[];
}

class SourceCompiler {
  readonly #source: TemplateSource;
  readonly #problems: CompileProblems;
  readonly #settings: ReadonlyMap<string, FieldSettings>;

  constructor(source: TemplateSource, problems: CompileProblems) {
    this.#source = source;
    this.#problems = problems;
    this.#settings = new Map(Object.entries(source.fields ?? {}));
  }

  async compile(): Promise<CompileResult> {
    const extracted = this.#extractPreview();
    const subject = this.#plain('subject', this.#source.subject);
    const previewText = this.#plain('previewText', extracted.previewText ?? '');
    const { html, text, links } = await this.#bodies(extracted.mjml);
    this.#limitSize({ html, text });
    const parts = { subject, previewText, html: html ?? [], text: text ?? [] };
    const fields = inferFields(parts).map(
      (use): TemplateField => ({ ...this.#settings.get(use.name), ...use }),
    );
    const problems = this.#problems.list;
    if (this.#problems.hasErrors) return { compiled: null, fields, problems };
    this.#warnAboutUnused(fields);
    const compiledFields = fields.map(compiledField);
    const compiled = {
      format: 1,
      subject,
      previewText,
      html,
      text,
      fields: compiledFields,
      required: requiredNames(compiledFields),
      links,
    } as const;
    return { compiled, fields, problems };
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
        "the template's preview text is used instead of <mj-preview>",
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
    return markup === undefined ? [] : plainNodes(markup.nodes);
  }

  #parse(part: TemplatePart, source: string): Markup | undefined {
    const parsed = parseMarkup(source);
    if (parsed.ok) return parsed.markup;
    const { rule, message, line, column } = parsed.error;
    this.#problems.error(part, rule, message, {
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
    });
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
    } else {
      // Checks before inlining the CSS, which could move or lose a field in a style sheet.
      compileHtml(finished, placeholders, isSecret, problems);
      if (this.#problems.hasErrors) return noBodies;
      finished = await inlineCss(finished);
    }
    const { nodes, links } = compileHtml(finished, placeholders, isSecret, problems);
    this.#reportLost(
      part,
      source,
      markup,
      placeholders.find(finished).map(({ tag }) => tag),
    );
    if (this.#problems.hasErrors) return noBodies;
    const text = givenText ?? (await deriveText(finished, placeholders, problems));
    return { html: nodes, text, links };
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

  #warnAboutUnused(fields: readonly TemplateField[]): void {
    const used = new Set(fields.map(({ name }) => name));
    for (const name of this.#settings.keys()) {
      if (!used.has(name)) {
        this.#problems.warning(
          'fields',
          'unused-field',
          `the field ${name} is not used in the template`,
        );
      }
    }
  }
}

function compiledField({ name, parts, default: value, secret }: TemplateField): CompiledField {
  return {
    name,
    parts,
    secret: secret === true,
    ...(value === undefined ? {} : { default: value }),
  };
}
