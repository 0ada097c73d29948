import type { CompiledNode } from '../template/compiled-template.ts';
import { escapeHtml } from '../template/escape-html.ts';
import type { GivenValues } from '../template/field-value.ts';
import { htmlText } from '../template/html-text.ts';
import { formattingLocale } from '../template/locale.ts';
import { openScope } from '../template/value-scope.ts';
import { BodyTooLarge } from './body-writer.ts';
import { CheckedValues, fieldValues } from './checked-values.ts';
import { bodyText, type EncodedBody, encodeBody } from './encode-body.ts';
import {
  type BodyPiece,
  type LoadedBody,
  type LoadedTemplate,
  staticText,
} from './load-template.ts';
import {
  type BodyContext,
  type RenderWarning,
  type RewriteLink,
  renderBody,
} from './render-body.ts';
import { lineNodes, renderLine } from './render-subject.ts';
import { findLargestField, RenderingTooLarge } from './rendering-too-large.ts';

/** The message-specific input of a template. */
export interface RenderInput {
  readonly values: GivenValues;
  /** The locale that the message asks for (BCP 47, canonical); dates and numbers follow it where the content does. */
  readonly locale?: string | undefined;
  /** As in the request; their markup was checked when the message was accepted. */
  readonly subjectLine?: string | undefined;
  readonly previewText?: string | undefined;
  /** Called for each trackable link; if absent, links don't change. */
  readonly rewriteLink?: RewriteLink | undefined;
  /** HTML to insert before the end of the body, such as an open-tracking image. */
  readonly bodyEnd?: string | undefined;
}

/** Code points of a subject. The contract limits the request; this limits the result after values are filled in. */
const MAX_SUBJECT_LENGTH = 998;

const PREVIEW_START = staticText(
  '<div style="display:none;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden;mso-hide:all">',
);
/** Invisible characters after the preview text, so that mail clients don't append the beginning of the body. */
const PREVIEW_END = staticText(`${'&#847;&zwnj;&nbsp;'.repeat(70)}</div>`);

/**
 * Renders one message from a loaded template version. Every value is escaped for its context; `warnings` lists what
 * was omitted.
 * @throws RenderingTooLarge as soon as a body exceeds `MAX_RENDERED_BYTES`
 */
export function renderMessage(template: LoadedTemplate, input: RenderInput): RenderedMail {
  const warnings: RenderWarning[] = [];
  const values = fieldValues(template, input.values);
  const scope = openScope(template.index, input.values);
  const locale = formattingLocale(template.compiled.locale, input.locale);
  const line = (own: readonly CompiledNode[], override: string | undefined): string =>
    renderLine(lineNodes(own, override, template), scope, locale);
  const subject = cutSubject(line(template.compiled.subject, input.subjectLine), warnings);
  const context: BodyContext = {
    names: template.names,
    values,
    scope,
    prefix: '',
    locale,
    checked: new CheckedValues(),
    preview: previewPieces(line(template.compiled.previewText, input.previewText)),
    bodyEnd: input.bodyEnd ?? '',
    rewriteLink: input.rewriteLink,
    warn: (warning) => {
      // A template can contain the same URL several times.
      const alreadyWarned = warnings.some(
        ({ code, field }) => code === warning.code && field === warning.field,
      );
      if (!alreadyWarned) warnings.push(warning);
    },
  };
  const html = renderPart('HTML', template.html, context);
  const text = renderPart('text', template.text, context);
  if (html === null || text === null) return new RenderedMail(subject, html, text, warnings);
  // RFC 2046 section 5.1.4: readers show the last alternative that they can, an empty one too.
  const isEmpty = !hasStaticText(template.html) && ownHtml(template.html, context).trim() === '';
  if (isEmpty) return new RenderedMail(subject, null, text, warnings);
  if (text.some((piece) => !isBlank(piece))) return new RenderedMail(subject, html, text, warnings);
  const derived = htmlText(ownHtml(template.html, context));
  return new RenderedMail(subject, html, derived === '' ? null : [`${derived}\n`], warnings);
}

function isBlank(piece: BodyPiece): boolean {
  return !/\S/.test(typeof piece === 'string' ? piece : piece.text);
}

function hasStaticText(body: LoadedBody | null): boolean {
  return body?.withoutLinks.some((node) => node.type === 'static' && !isBlank(node)) ?? false;
}

/** The HTML without what the service adds to it. */
function ownHtml(body: LoadedBody | null, context: BodyContext): string {
  const own = { ...context, preview: [], bodyEnd: '', rewriteLink: undefined, warn: () => {} };
  return bodyText(renderPart('HTML', body, own) ?? []);
}

/** A message's content; bodies are joined or encoded on demand. */
export class RenderedMail {
  readonly subject: string;
  readonly warnings: readonly RenderWarning[];
  readonly #html: readonly BodyPiece[] | null;
  readonly #text: readonly BodyPiece[] | null;

  constructor(
    subject: string,
    html: readonly BodyPiece[] | null,
    text: readonly BodyPiece[] | null,
    warnings: readonly RenderWarning[],
  ) {
    this.subject = subject;
    this.#html = html;
    this.#text = text;
    this.warnings = warnings;
  }

  get hasHtml(): boolean {
    return this.#html !== null;
  }

  /** The HTML part with line feeds, `null` if the template has none. */
  get html(): string | null {
    return this.#html === null ? null : bodyText(this.#html);
  }

  get text(): string | null {
    return this.#text === null ? null : bodyText(this.#text);
  }

  encodeHtml(): EncodedBody | null {
    return this.#html === null ? null : encodeBody(this.#html);
  }

  encodeText(): EncodedBody | null {
    return this.#text === null ? null : encodeBody(this.#text);
  }
}

function renderPart(
  part: 'HTML' | 'text',
  body: LoadedBody | null,
  context: BodyContext,
): readonly BodyPiece[] | null {
  if (body === null) return null;
  const nodes = context.rewriteLink === undefined ? body.withoutLinks : body.withLinks;
  try {
    return renderBody(nodes, context);
  } catch (error) {
    if (!(error instanceof BodyTooLarge)) throw error;
    throw new RenderingTooLarge(part, findLargestField(nodes, context));
  }
}

function cutSubject(subject: string, warnings: RenderWarning[]): string {
  if (subject.length <= MAX_SUBJECT_LENGTH) return subject;
  const points = Array.from(subject);
  if (points.length <= MAX_SUBJECT_LENGTH) return subject;
  const message = `The subject was longer than ${MAX_SUBJECT_LENGTH} characters and was truncated.`;
  warnings.push({ code: 'subject-cut', message });
  return points.slice(0, MAX_SUBJECT_LENGTH).join('').trim();
}

function previewPieces(preview: string): BodyPiece[] {
  return preview === '' ? [] : [PREVIEW_START, escapeHtml(preview), PREVIEW_END];
}
