import { defaultTreeAdapter, parse, serialize, type DefaultTreeAdapterTypes as Tree } from 'parse5';
import type { MailLink, PreparedHtml } from './prepare-html.ts';
import { safeLink } from './safe-link.ts';

/** HTML that is longer or nested deeper than this is shown unchanged; its links are not listed. */
const maxCharacters = 1024 ** 2;
const maxDepth = 500;

const maxLinks = 500;

/** Elements that are useless in a displayed message. The frame's policy is what disables them. */
const dropped = new Set(['script', 'link', 'base', 'iframe', 'frame', 'object', 'embed']);

/**
 * Makes links in the HTML part open in new tabs, removes what could only load or run something, and lists the links.
 * This is not a security measure: that is the job of the frame's sandbox and Content-Security-Policy.
 */
export function prepareHtmlJob({ source }: { readonly source: Buffer }): PreparedHtml {
  const html = source.toString('utf8');
  const document = html.length > maxCharacters ? undefined : parseUpTo(maxDepth, html);
  if (document === undefined) return { html, links: [], remoteLoads: 0 };
  const links: MailLink[] = [];
  let remoteLoads = 0;
  const waiting: Tree.Node[] = [document];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if ('tagName' in node) {
      if (node.tagName === 'a' || node.tagName === 'area') {
        const href = openInNewTab(node);
        if (href !== undefined && links.length < maxLinks)
          links.push({ label: labelOf(node) || href, href });
      }
      if (loadsFromElsewhere(node)) remoteLoads += 1;
    }
    if (!('childNodes' in node)) continue;
    node.childNodes = node.childNodes.filter(isAllowed);
    waiting.push(...node.childNodes.toReversed());
  }
  return { html: serialize(document), links, remoteLoads };
}

function isAllowed(node: Tree.ChildNode): boolean {
  if (!('tagName' in node)) return true;
  if (node.tagName === 'meta') return attribute(node, 'http-equiv') === undefined;
  return !dropped.has(node.tagName);
}

function openInNewTab(element: Tree.Element): string | undefined {
  const href = safeLink(attribute(element, 'href') ?? '');
  element.attrs = element.attrs.filter(
    ({ name }) => !['href', 'target', 'rel', 'ping'].includes(name),
  );
  if (href === undefined) return undefined;
  element.attrs.push(
    { name: 'href', value: href },
    { name: 'target', value: '_blank' },
    { name: 'rel', value: 'noopener noreferrer' },
  );
  return href;
}

const remote = /^\s*(?:https?:)?\/\//i;
const remoteStyle = /url\(\s*(?:["']\s*)?(?:https?:)?\/\//i;

function loadsFromElsewhere(element: Tree.Element): boolean {
  return element.attrs.some(
    ({ name, value }) =>
      (['src', 'srcset', 'background', 'poster'].includes(name) && remote.test(value)) ||
      (name === 'style' && remoteStyle.test(value)),
  );
}

function attribute(element: Tree.Element, name: string): string | undefined {
  return element.attrs.find((candidate) => candidate.name === name)?.value;
}

/** The text of a link, or the alternative text of its image. */
function labelOf(element: Tree.Element): string {
  const words: string[] = [];
  const waiting: Tree.Node[] = [element];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.nodeName === '#text' && 'value' in node) words.push(node.value);
    if ('tagName' in node && node.tagName === 'img') words.push(attribute(node, 'alt') ?? '');
    if ('childNodes' in node) waiting.push(...node.childNodes.toReversed());
  }
  return words.join(' ').replace(/\s+/g, ' ').trim().slice(0, 200);
}

/** Parses the document; undefined if it is nested deeper than `depth`, because time and stack would grow with it. */
function parseUpTo(depth: number, source: string): Tree.Document | undefined {
  let open = 0;
  let tooDeep = false;
  const treeAdapter = {
    ...defaultTreeAdapter,
    onItemPush() {
      open += 1;
      if (open <= depth) return;
      tooDeep = true;
      throw new RangeError('nested too deep');
    },
    onItemPop() {
      open -= 1;
    },
  };
  try {
    return parse(source, { treeAdapter });
  } catch (error) {
    if (tooDeep) return undefined;
    throw error;
  }
}
