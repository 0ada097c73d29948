import type { TagProblems } from './compile-problems.ts';
import type { CompiledNode, CompiledUrl, EscapeContext } from './compiled-template.ts';
import { escapeHtml } from './escape-html.ts';
import type { AttributeRange } from './map-html.ts';
import { NodeTreeBuilder } from './node-tree-builder.ts';
import type { FoundTag, TagPlaceholders } from './protect-markup.ts';

/** Attributes whose whole value is one URL. */
const URL_ATTRIBUTES = new Set(
  `action background cite classid codebase data dynsrc formaction href icon longdesc lowsrc manifest
  poster profile src usemap xlink:href`.split(/\s+/),
);
/** Lists of URLs and embedded documents, where escaping a single value can't be safe. */
const REFUSED_ATTRIBUTES = new Set([
  'archive',
  'attributionsrc',
  'imagesrcset',
  'ping',
  'srcdoc',
  'srcset',
]);
/** URL schemes that may be followed by a field; any other could execute or embed the value. */
const SCHEME = /^[\s\p{Cc}]*([a-z][a-z0-9+.-]*):/iu;
const SCHEMES_WITH_FIELDS = new Set(['http', 'https', 'mailto', 'tel', 'sms', 'cid']);
const CSS_URL = /url\(([^()]*)\)/gi;

export type AttributeKind = 'url' | 'style' | 'text' | 'refused';

/** Classifies an attribute's value; `refused` accepts no field. */
export function classifyAttribute({ name, element, siblings }: AttributeRange): AttributeKind {
  if (name.startsWith('on') || REFUSED_ATTRIBUTES.has(name)) return 'refused';
  if (name === 'content' && element === 'meta') {
    return siblings.get('http-equiv')?.toLowerCase() === 'refresh' ? 'refused' : 'text';
  }
  if (URL_ATTRIBUTES.has(name)) return 'url';
  return name === 'style' ? 'style' : 'text';
}

/** Compiles the value of an attribute that contains fields; static characters come out escaped. */
export function compileAttribute(
  range: AttributeRange,
  kind: AttributeKind,
  placeholders: TagPlaceholders,
  problems: TagProblems,
): CompiledNode[] {
  const found = placeholders.find(range.value);
  if (kind === 'url') return [compileUrl(range.value, 'attribute', found, problems)];
  if (kind === 'style') return compileStyle(range.value, placeholders, problems);
  if (kind === 'text') return buildNodes(range.value, found, 'html', escapeHtml, problems);
  for (const { tag } of found) {
    problems.error(tag, 'field-place', `can’t be used in the attribute ${range.name}`);
  }
  return [];
}

/** Compiles one URL; `text` and the tag offsets refer to the unescaped URL. */
export function compileUrl(
  text: string,
  as: CompiledUrl['as'],
  found: readonly FoundTag[],
  problems: TagProblems,
): CompiledUrl {
  const [first] = found;
  const scheme = SCHEME.exec(text.slice(0, first?.start ?? 0))?.[1]?.toLowerCase();
  if (first !== undefined && scheme !== undefined && !SCHEMES_WITH_FIELDS.has(scheme)) {
    problems.error(first.tag, 'field-place', `can’t be used in a URL that begins with ${scheme}:`);
  }
  return { type: 'url', as, nodes: buildNodes(text, found, 'url', (part) => part, problems) };
}

/** Compiles a style: fields in `url(…)` follow the rules for URLs, all others those for plain style values. */
function compileStyle(
  value: string,
  placeholders: TagPlaceholders,
  problems: TagProblems,
): CompiledNode[] {
  const tree = new NodeTreeBuilder(problems);
  let from = 0;
  const addRest = (end: number): void => {
    const part = value.slice(from, end);
    addTags(tree, part, placeholders.find(part), 'css', escapeHtml);
  };
  for (const match of value.matchAll(CSS_URL)) {
    const url = unquote(match[1] ?? '');
    const found = placeholders.find(url);
    if (found.length === 0) continue;
    const start = match.index + match[0].indexOf(url);
    addRest(start);
    tree.add(compileUrl(url, 'css', found, problems));
    from = start + url.length;
  }
  addRest(value.length);
  return tree.finish();
}

/** The URL inside `url(…)`. */
function unquote(text: string): string {
  const bare = text.trim();
  const quote = bare.charAt(0);
  const quoted = bare.length > 1 && (quote === '"' || quote === "'") && bare.endsWith(quote);
  return quoted ? bare.slice(1, -1) : bare;
}

function buildNodes(
  text: string,
  found: readonly FoundTag[],
  as: EscapeContext,
  escapeText: (text: string) => string,
  problems: TagProblems,
): CompiledNode[] {
  const tree = new NodeTreeBuilder(problems);
  addTags(tree, text, found, as, escapeText);
  return tree.finish();
}

/** Adds text with tags that all use the same escaping, raw fields included. */
function addTags(
  tree: NodeTreeBuilder,
  text: string,
  found: readonly FoundTag[],
  as: EscapeContext,
  escapeText: (text: string) => string,
): void {
  let from = 0;
  for (const { tag, start, end } of found) {
    tree.add(escapeText(text.slice(from, start)));
    tree.addTag(tag, 'here', as);
    from = end;
  }
  tree.add(escapeText(text.slice(from)));
}
