import type { CompiledNode } from './compiled-template.ts';
import { type MarkupNode, parseMarkup } from './parse-markup.ts';

/** A subject line or preview text from a request. */
export interface TemplateOverride {
  readonly nodes: readonly CompiledNode[];
  readonly fields: readonly string[];
}

export type ParsedOverride =
  | { readonly ok: true; readonly override: TemplateOverride }
  | { readonly ok: false; readonly reason: string };

/** Parses the subject line or preview text of a request; text without markup costs almost nothing. */
export function parseOverride(text: string): ParsedOverride {
  if (!text.includes('{{')) return { ok: true, override: { nodes: [text], fields: [] } };
  const parsed = parseMarkup(text);
  if (!parsed.ok)
    return { ok: false, reason: `has malformed personalization: ${parsed.error.message}` };
  const { nodes, fields } = parsed.markup;
  return { ok: true, override: { nodes: plainNodes(nodes), fields } };
}

/** Markup of a part that needs no escaping: subject, preview text or text part. */
export function plainNodes(nodes: readonly MarkupNode[]): CompiledNode[] {
  return nodes.map((node): CompiledNode => {
    if (typeof node === 'string') return node;
    if (node.type === 'section') return { ...node, nodes: plainNodes(node.nodes) };
    return { type: 'field', name: node.name, as: 'plain' };
  });
}
