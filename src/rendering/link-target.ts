import { fieldValues } from './field-values.ts';
import type { LoadedNode, LoadedTemplate } from './load-template.ts';
import { buildUrl, type UrlNode } from './render-body.ts';

/** Link nodes by number, cached per version. */
const linkCache = new WeakMap<LoadedTemplate, ReadonlyMap<number, UrlNode>>();

/**
 * The original target of a link in a message's HTML part.
 * @param index the link's index in the version's table of links
 * @param values the message's values for the link's fields
 * @returns undefined if the version has no such trackable link, or its target isn't an http or https URL
 */
export function linkTarget(
  template: LoadedTemplate,
  index: number,
  values: Readonly<Record<string, string>>,
): string | undefined {
  const node = linksOf(template).get(index);
  if (node === undefined) return undefined;
  const { builder } = buildUrl(node, fieldValues(template, values));
  const url = builder.url.trim();
  return builder.refused || !/^https?:/i.test(url) ? undefined : url;
}

function linksOf(template: LoadedTemplate): ReadonlyMap<number, UrlNode> {
  const found = linkCache.get(template);
  if (found !== undefined) return found;
  const links = new Map<number, UrlNode>();
  const visit = (nodes: readonly LoadedNode[]): void => {
    for (const node of nodes) {
      if (node.type === 'section') visit(node.nodes);
      else if (node.type === 'url' && node.link?.trackable === true)
        links.set(node.link.index, node);
    }
  };
  visit(template.html?.withLinks ?? []);
  linkCache.set(template, links);
  return links;
}
