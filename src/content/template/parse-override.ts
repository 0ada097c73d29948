import {
  type CompiledField,
  type CompiledNode,
  currentFormat,
  type FieldUses,
  type MarkupFormat,
} from './compiled-template.ts';
import { type MarkupNode, type MarkupTag, parseMarkup } from './parse-markup.ts';
import { resolveOverride } from './resolve-fields.ts';

/** A subject line or preview text from a request. */
export interface TemplateOverride {
  readonly nodes: readonly CompiledNode[];
  /** Fields outside lists and objects. */
  readonly fields: readonly string[];
  /** Absent: it uses no list, object or helper. */
  readonly uses?: FieldUses;
}

export type ParsedOverride =
  | { readonly ok: true; readonly override: TemplateOverride }
  | { readonly ok: false; readonly reason: string };

/** The version that an override is for: it says how markup is read, and which fields are lists or objects. */
export interface OverriddenTemplate {
  readonly format: MarkupFormat;
  readonly fields: readonly CompiledField[];
}

const anyTemplate: OverriddenTemplate = { format: currentFormat, fields: [] };

/** Parses the subject line or preview text of a request; text without markup costs almost nothing. */
export function parseOverride(
  text: string,
  template: OverriddenTemplate = anyTemplate,
): ParsedOverride {
  if (!text.includes('{{')) return { ok: true, override: { nodes: [text], fields: [] } };
  const parsed = parseMarkup(text, template.format);
  if (!parsed.ok) return malformed(parsed.error.message);
  const { nodes, tags, fields } = parsed.markup;
  const isPlain =
    template.fields.every(({ kind }) => kind === undefined) &&
    tags.every(({ format }) => format === undefined);
  if (isPlain) return { ok: true, override: { nodes: plainNodes(nodes), fields } };
  const resolved = resolveOverride(plainNodes(nodes, tags), template.fields);
  if ('problem' in resolved) return malformed(resolved.problem);
  return { ok: true, override: resolved };
}

function malformed(message: string): ParsedOverride {
  return { ok: false, reason: `has malformed personalization: ${message}` };
}

/**
 * Markup of a part that needs no escaping: subject, preview text or text part.
 * @param tags of the markup, where its nodes are to know their places
 */
export function plainNodes(
  nodes: readonly MarkupNode[],
  tags: readonly MarkupTag[] = [],
): CompiledNode[] {
  const opening = tags.filter(({ kind }) => kind !== 'close' && kind !== 'comment');
  let next = 0;
  const place = (): { at?: number } => {
    const at = opening[next]?.start;
    next += 1;
    return at === undefined ? {} : { at };
  };
  const convert = (list: readonly MarkupNode[]): CompiledNode[] =>
    list.map((node): CompiledNode => {
      if (typeof node === 'string') return node;
      const at = place();
      if (node.type === 'section') return { ...node, nodes: convert(node.nodes), ...at };
      const helper = node.format === undefined ? {} : { format: node.format };
      return { type: 'field', name: node.name, as: 'plain', ...helper, ...at };
    });
  return convert(nodes);
}
