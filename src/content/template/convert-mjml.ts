import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { type CompileProblems, isStackOverflow } from './compile-problems.ts';
import { cleanStyleAttributes, restoreStyleAttributes } from './inline-css.ts';
import type { ProtectedSource } from './protect-markup.ts';
import { sourcePositionOf } from './template-problem.ts';

interface MjmlError {
  readonly line?: number;
  readonly message: string;
  readonly tagName?: string;
}

const INCLUDE = /<mj-include\b/i;
const PREVIEW_OPEN = /<mj-preview\b[^<>]*>/i;

/** Extracts the preview text from MJML: a request can override it, so sending inserts it rather than MJML. */
export function extractPreviewText(mjml: string): {
  mjml: string;
  previewText: string | undefined;
} {
  const uncommented = blankComments(mjml);
  const open = PREVIEW_OPEN.exec(uncommented);
  const start = open === null ? -1 : open.index + open[0].length;
  const end = start === -1 ? -1 : uncommented.indexOf('</mj-preview>', start);
  if (open === null || end === -1) return { mjml, previewText: undefined };
  const inside = mjml.slice(start, end);
  const previewText = textOf(parseFragment(inside)).replace(/\s+/g, ' ').trim();
  // Keep the line breaks, so that line numbers stay valid.
  const blank = inside.replace(/[^\n]/g, '');
  const rest = mjml.slice(end + '</mj-preview>'.length);
  return { mjml: mjml.slice(0, open.index) + blank + rest, previewText };
}

/** The text of an HTML node, with character references resolved. */
function textOf(node: DefaultTreeAdapterTypes.Node): string {
  if ('value' in node) return node.value;
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';
}

/**
 * Converts MJML to HTML with strict validation; errors name the line. It reads no files (no includes) and loads no
 * fonts from other servers unless the template itself names them.
 */
export async function convertMjml(
  source: ProtectedSource,
  problems: CompileProblems,
): Promise<string | undefined> {
  if (INCLUDE.test(source.text)) {
    problems.error('mjml', 'mjml-include', '<mj-include> is not supported, because it reads files');
    return undefined;
  }
  const unclosed = findUnclosedElement(source.text);
  if (unclosed !== undefined) {
    const { line, name } = unclosed;
    problems.error('mjml', 'mjml-unclosed', `<${name}> is not closed where it should be`, { line });
    return undefined;
  }
  const { default: mjml2html } = await import('mjml-browser');
  try {
    const options = {
      validationLevel: 'strict',
      ignoreIncludes: true,
      fonts: {},
      keepComments: false,
    };
    const { placeholders } = source;
    const inlines = /\binline\s*=\s*["']inline["']/.test(source.text);
    const text = inlines ? cleanStyleAttributes(source.text, placeholders) : source.text;
    const { html } = await mjml2html(text, options as Parameters<typeof mjml2html>[1]);
    const restored = inlines ? restoreStyleAttributes(html, placeholders) : html;
    return collapseWhitespace(restored.replace(/\r\n?/g, '\n'));
  } catch (error) {
    if (isStackOverflow(error)) throw error;
    reportMjmlErrors(error, source, problems);
    return undefined;
  }
}

function reportMjmlErrors(
  error: unknown,
  { placeholders }: ProtectedSource,
  problems: CompileProblems,
): void {
  const errors = (error as { errors?: readonly MjmlError[] }).errors ?? [];
  for (const { line, message, tagName } of errors) {
    const where = tagName === undefined ? '' : `<${tagName}>: `;
    const position = line === undefined || line === 0 ? {} : { line };
    problems.error('mjml', 'mjml', placeholders.reveal(`${where}${message}`), position);
  }
  if (errors.length === 0) {
    const message = error instanceof Error ? error.message : 'can’t be parsed as MJML';
    problems.error('mjml', 'mjml', placeholders.reveal(message));
  }
}

/** Removes MJML's deep indentation, which every message would carry. Visible whitespace is kept. */
function collapseWhitespace(html: string): string {
  if (/<pre\b|<textarea\b|white-space:\s*(?:pre\b(?!-line)|break)/i.test(html)) return html;
  return html
    .replace(/(?<![ \t])[ \t]*\n[ \t]*/g, '\n')
    .replace(/>\n+</g, '>\n<')
    .replace(/(<[a-z][\w:-]*)\n/g, '$1 ');
}

/** Never matches past the next `<`, so a source without `>` costs no more than any other. */
const MJML_TAG = /<(\/?)(mjml|mj-[\w-]+)\b((?:"[^"<]*"|'[^'<]*'|[^"'<>])*)>/gi;

/**
 * Finds the first MJML element that is not closed, or is closed without having been opened. MJML itself would
 * silently drop everything after it.
 */
function findUnclosedElement(mjml: string): { name: string; line: number } | undefined {
  const source = blankComments(mjml);
  const open: { name: string; at: number }[] = [];
  for (const match of source.matchAll(MJML_TAG)) {
    const [, slash, name = '', attributes = ''] = match;
    if (slash === '/') {
      const last = open.pop();
      if (last === undefined) return { name, line: sourcePositionOf(source, match.index).line };
      if (last.name !== name)
        return { name: last.name, line: sourcePositionOf(source, last.at).line };
    } else if (!attributes.endsWith('/')) open.push({ name, at: match.index });
  }
  const last = open.at(-1);
  return last === undefined
    ? undefined
    : { name: last.name, line: sourcePositionOf(source, last.at).line };
}

/** Replaces the comments of the markup with spaces; offsets and line breaks don't change. */
function blankComments(source: string): string {
  let out = '';
  let from = 0;
  for (let start = source.indexOf('<!--'); start !== -1; start = source.indexOf('<!--', from)) {
    const end = source.indexOf('-->', start);
    if (end === -1) break;
    out += source.slice(from, start) + source.slice(start, end + 3).replace(/[^\n]/g, ' ');
    from = end + 3;
  }
  return out + source.slice(from);
}
