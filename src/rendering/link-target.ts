import { fieldValues } from './field-values.ts';
import type { LoadedNode, LoadedTemplate } from './load-template.ts';
import { buildUrl, type UrlNode } from './render-body.ts';

/** The link nodes of each version by their number, made once. */
const linkCache = new WeakMap<LoadedTemplate, ReadonlyMap<number, UrlNode>>();

/**
 * Where a link of the HTML part leads, as the message had it.
 * @param index the link's place in the version's table of links
 * @param values those that the message gave to the link's fields
 * @returns undefined where the version has no such link that may be tracked, or it leads to no http or https address
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
