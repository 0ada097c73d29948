import { fieldValues } from './checked-values.ts';
import type { EachNode, LoadedNode, LoadedTemplate } from './load-template.ts';
import { buildUrl, type UrlNode } from './render-body.ts';

/** A link, and the list or object whose items it is in. */
interface FoundLink {
  readonly node: UrlNode;
  readonly each: EachNode | undefined;
}

/** Links by number, cached per version. */
const linkCache = new WeakMap<LoadedTemplate, ReadonlyMap<number, FoundLink>>();

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
  const found = linksOf(template).get(index);
  if (found === undefined) return undefined;
  const { node, each } = found;
  const texts =
    each === undefined
      ? fieldValues(template, values)
      : each.names.map((name) => (Object.hasOwn(values, name) ? (values[name] ?? '') : ''));
  const { builder } = buildUrl(node, texts);
  const url = builder.url.trim();
  return builder.refused || !/^https?:/i.test(url) ? undefined : url;
}

function linksOf(template: LoadedTemplate): ReadonlyMap<number, FoundLink> {
  const found = linkCache.get(template);
  if (found !== undefined) return found;
  const links = new Map<number, FoundLink>();
  const visit = (nodes: readonly LoadedNode[], each?: EachNode): void => {
    for (const node of nodes) {
      if (node.type === 'section') visit(node.nodes, each);
      else if (node.type === 'each') visit(node.nodes, node);
      else if (node.type === 'url' && node.link?.trackable === true)
        links.set(node.link.index, { node, each });
    }
  };
  visit(template.html?.withLinks ?? []);
  linkCache.set(template, links);
  return links;
}
