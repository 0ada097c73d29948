import { mapHtml } from './map-html.ts';
import type { TagPlaceholders } from './protect-markup.ts';

const openings = /<!--|<style\b(?:[^>"']|"[^"]*"|'[^']*')*>/gi;
const hasStyle = /<style\b/i;

/** Stands for an `&` while the library works, which would take the end of a character reference for that of a declaration. */
const ampersand = '\uF8FF';

/**
 * Copies the rules of `<style>` elements into `style` attributes, because many mail clients support nothing else. What can't be
 * inlined stays in its element: at-rules, `:hover`, rules for the markup that a mail program adds, elements with `media`. Linked
 * style sheets are not loaded. As in a browser, a malformed declaration is ignored (CSS Syntax Level 3 section 9).
 */
export async function inlineCss(html: string, placeholders: TagPlaceholders): Promise<string> {
  if (!hasStyle.test(html)) return html;
  const { default: juice } = await import('juice');
  const prepared = cleanStyleAttributes(separateRules(html, placeholders), placeholders);
  const inlined = juice(prepared, {
    removeStyleTags: false,
    removeInlinedSelectors: true,
    preservePseudos: true,
    preserveImportant: true,
    applyWidthAttributes: false,
    applyHeightAttributes: false,
  });
  return restoreStyleAttributes(inlined, placeholders);
}

/** Makes every style attribute readable for libraries that split it at each semicolon; undone by `restoreStyleAttributes`. */
export function cleanStyleAttributes(html: string, placeholders: TagPlaceholders): string {
  let out = '';
  let from = 0;
  for (const range of mapHtml(html).ranges) {
    if (range.kind === 'text' || range.name !== 'style') continue;
    const clean = cleanDeclarations(range.value, placeholders);
    const quote = range.quoted ? '' : '"';
    out += `${html.slice(from, range.start)}${quote}${clean.replaceAll('&', ampersand)}${quote}`;
    from = range.end;
  }
  return out + html.slice(from);
}

export function restoreStyleAttributes(html: string, placeholders: TagPlaceholders): string {
  return html
    .replaceAll(ampersand, '&amp;')
    .replace(/\b(\w+): \1\b/g, (pair, word: string) =>
      placeholders.find(word).length > 0 ? word : pair,
    );
}

/** Puts the rules of each style element that can be inlined into one of their own; `data-embed` marks the others. */
function separateRules(html: string, placeholders: TagPlaceholders): string {
  let out = '';
  let from = 0;
  for (let at = 0; ; ) {
    openings.lastIndex = at;
    const opening = openings.exec(html);
    if (opening === null) return out + html.slice(from);
    const [tag] = opening;
    const start = opening.index + tag.length;
    const isComment = tag === '<!--';
    const end = isComment ? html.indexOf('-->', start) : endOfStyle(html, start);
    if (end === -1) return out + html.slice(from);
    at = end;
    if (isComment) continue;
    const attributes = tag.slice('<style'.length, -1);
    const css = html.slice(start, end);
    out += html.slice(from, opening.index) + separateElement(attributes, css, placeholders);
    from = end;
  }
}

function endOfStyle(html: string, start: number): number {
  const closing = /<\/style/gi;
  closing.lastIndex = start;
  return closing.exec(html)?.index ?? -1;
}

/** A style element, or several, without the last end tag. */
function separateElement(attributes: string, css: string, placeholders: TagPlaceholders): string {
  const media = /\bmedia\s*=\s*["']?([^"'>]*)/i.exec(attributes)?.[1]?.trim().toLowerCase();
  if (media !== undefined && media !== '' && media !== 'all')
    return `<style data-embed${attributes}>${css}`;
  const imports: string[] = [];
  const rules: string[] = [];
  const others: string[] = [];
  for (const statement of splitCss(css.replaceAll('<!--', '').replaceAll('-->', ''), '}')) {
    const text = statement.trim();
    const brace = text.indexOf('{');
    const body = text.slice(brace + 1, text.endsWith('}') ? -1 : undefined);
    if (/^@import\b/i.test(text)) imports.push(text);
    else if (text.startsWith('@') || body.includes('{')) others.push(text);
    else if (brace !== -1)
      rules.push(`${text.slice(0, brace)}{${cleanDeclarations(body, placeholders)}}`);
  }
  const elements = [
    ...(imports.length > 0 ? [`<style data-embed${attributes}>${imports.join('\n')}`] : []),
    ...(rules.length > 0 ? [`<style${attributes}>${rules.join('\n')}`] : []),
    ...(others.length > 0 ? [`<style data-embed${attributes}>${others.join('\n')}`] : []),
  ];
  return elements.length === 0 ? `<style${attributes}>` : elements.join('</style>');
}

/**
 * Keeps the declarations that have a name and a value, and fields that stand for declarations. Strings get single quotes, since the
 * attribute has double ones.
 */
function cleanDeclarations(text: string, placeholders: TagPlaceholders): string {
  return splitCss(text, ';')
    .map((part) =>
      part
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .replace(/;$/, '')
        .trim(),
    )
    .flatMap((part) => {
      const colon = part.indexOf(':');
      const isNamed = /^[-\w]+\s*:\s*\S/.test(part);
      if (isNamed)
        return `${part.slice(0, colon).trimEnd()}: ${singleQuoted(part.slice(colon + 1).trim())}`;
      // A field in place of a declaration is its own name while the library works.
      const isField = /^\w+$/.test(part) && placeholders.find(part).length > 0;
      return isField ? `${part}: ${part}` : [];
    })
    .join('; ');
}

function singleQuoted(value: string): string {
  return value.replace(
    /"((?:[^"\\]|\\[\s\S])*)"/g,
    (_, inner: string) => `'${inner.replaceAll("'", '\\27 ')}'`,
  );
}

/**
 * Splits a style sheet into its statements, or declarations, which end with `;` or a closed block. Strings, comments, brackets and
 * escapes are skipped (CSS Syntax Level 3 section 5); what is open at the end is closed there.
 */
function splitCss(css: string, end: '}' | ';'): string[] {
  const parts: string[] = [];
  let from = 0;
  let depth = 0;
  let brackets = 0;
  const finish = (at: number): void => {
    const part = css.slice(from, at);
    if (part.trim() !== '') parts.push(part);
    from = at;
  };
  for (let at = 0; at < css.length; at += 1) {
    const character = css[at];
    if (character === '\\') at += 1;
    else if (character === '"' || character === "'") at = endOfString(css, at, character);
    else if (character === '/' && css[at + 1] === '*') {
      const close = css.indexOf('*/', at + 2);
      at = close === -1 ? css.length : close + 1;
    } else if (character === '(') brackets += 1;
    else if (character === ')') brackets = Math.max(0, brackets - 1);
    else if (brackets > 0) continue;
    else if (character === '{') depth += 1;
    else if (character === '}') {
      depth = Math.max(0, depth - 1);
      if (depth === 0 && end === '}') finish(at + 1);
    } else if (character === ';' && depth === 0) {
      if (end === ';' || /^\s*@/.test(css.slice(from, from + 40))) finish(at + 1);
    }
  }
  finish(css.length);
  if (depth > 0 && end === '}') parts.push(`${parts.pop() ?? ''}${'}'.repeat(depth)}`);
  return parts;
}

function endOfString(css: string, start: number, quote: string): number {
  for (let at = start + 1; at < css.length; at += 1) {
    if (css[at] === '\\') at += 1;
    else if (css[at] === quote || css[at] === '\n') return at;
  }
  return css.length;
}
