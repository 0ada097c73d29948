import { type ChangeKind, markChanges } from './mark-changes.ts';
import { isSafeLink } from './safe-link.ts';

/** A link in a mail: its text and target. */
export interface MailLink {
  readonly label: string;
  readonly href: string;
}

/**
 * The colors in which an email is shown: its own, its own for dark mode, or those of apps that ignore these and invert its
 * light colors or all colors.
 */
export type MailColors = 'light' | 'dark' | 'invertLight' | 'invertAll';

/**
 * Runs in the sandboxed frame that shows an email. The frame has an opaque origin and reaches the page around it only
 * by messages, and its Content-Security-Policy blocks scripts and remote content of the email.
 */
interface MailFrameMessage {
  readonly html: string;
  readonly colors: MailColors;
  /** Highlights what the other version doesn't have. */
  readonly marks?: { readonly against: string; readonly kind: ChangeKind };
  /** Names of fields without a value, which stand in the text as `{{Name}}`. */
  readonly unfilled?: readonly string[];
  /** Whether a click tells the page its text instead of following a link. */
  readonly picksText: boolean;
}

function isMailFrameMessage(value: unknown): value is MailFrameMessage {
  return typeof value === 'object' && value !== null && 'html' in value && 'colors' in value;
}

let picksText = false;

/** What could only load or run something, which the policy blocks, or would leave the mail for another page. */
const useless = 'meta[http-equiv], script, link, base, iframe, frame, object, embed';
const maxLinks = 500;
/** URLs of images that the policy didn't let load. */
const blocked = new Set<string>();

function renderMail({ html, colors, marks, unfilled = [], ...rest }: MailFrameMessage): void {
  picksText = rest.picksText;
  blocked.clear();
  // Scripts in a parsed document never run.
  const mail = new DOMParser().parseFromString(html, 'text/html');
  for (const one of mail.querySelectorAll(useless)) one.remove();
  for (const link of mail.querySelectorAll<HTMLAnchorElement>('a[href], area[href]')) {
    link.target = '_blank';
    link.rel = 'noopener noreferrer';
  }
  parent.postMessage({ links: linksOf(mail), blocked: 0 }, '*');
  if (marks !== undefined) markChanges(mail, marks.against, marks.kind);
  markUnfilled(mail, unfilled);
  document.replaceChild(document.adoptNode(mail.documentElement), document.documentElement);
  heights.disconnect();
  heights.observe(document.documentElement);
  const dark = colors === 'dark';
  document.documentElement.style.colorScheme = dark ? 'dark' : 'light';
  for (const sheet of document.styleSheets) chooseScheme(sheet.cssRules, dark);
  if (colors === 'invertLight') invertColors(document, 'light');
  if (colors === 'invertAll') invertColors(document, 'all');
  reportHeight();
}

function linksOf(mail: Document): MailLink[] {
  const links = [...mail.querySelectorAll('a[href], area[href]')].map((link) => {
    const names = [link, ...link.querySelectorAll('img')].map(
      (one) => one.getAttribute('alt') ?? one.textContent,
    );
    const href = link.getAttribute('href')?.trim() ?? '';
    return { label: names.join(' ').replace(/\s+/g, ' ').trim().slice(0, 200) || href, href };
  });
  return links.filter(({ href }) => isSafeLink(href)).slice(0, maxLinks);
}

const darkQuery = /\(\s*prefers-color-scheme\s*:\s*dark\s*\)/gi;
const lightQuery = /\(\s*prefers-color-scheme\s*:\s*light\s*\)/gi;

/** Makes the mail's media queries use the color scheme chosen here instead of the system's. */
function chooseScheme(rules: CSSRuleList, dark: boolean): void {
  const [alwaysTrue, alwaysFalse] = ['(min-width: 0)', '(max-width: 0)'];
  for (const rule of rules) {
    if (!(rule instanceof CSSMediaRule)) continue;
    rule.media.mediaText = rule.media.mediaText
      .replaceAll(darkQuery, dark ? alwaysTrue : alwaysFalse)
      .replaceAll(lightQuery, dark ? alwaysFalse : alwaysTrue);
    chooseScheme(rule.cssRules, dark);
  }
}

/** Narrower frames have no width of their own yet, so every word would take a line. A resize follows. */
const minWidth = 100;

function reportHeight(): void {
  if (innerWidth < minWidth) return;
  const { height } = document.documentElement.getBoundingClientRect();
  parent.postMessage({ height: Math.ceil(height) }, '*');
}

/** Images and the available width change the height too. */
const heights = new ResizeObserver(reportHeight);

addEventListener('message', (event) => {
  if (event.source === parent && isMailFrameMessage(event.data)) renderMail(event.data);
});
addEventListener('resize', reportHeight);
document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
  if (effectiveDirective !== 'img-src') return;
  blocked.add(blockedURI);
  parent.postMessage({ blocked: blocked.size }, '*');
});
addEventListener('click', (event) => {
  const { clientX, clientY, target } = event;
  const link = target instanceof Element ? target.closest('[href]') : null;
  if (picksText || (link !== null && !isSafeLink(link.getAttribute('href') ?? '')))
    event.preventDefault();
  if (!picksText) return;
  const clicked = textAround(document.caretPositionFromPoint?.(clientX, clientY)?.offsetNode);
  if (clicked?.trim()) parent.postMessage({ clicked: clicked.slice(0, 1_000) }, '*');
});
parent.postMessage({ ready: true }, '*');

const mark = 'data-unfilled';

/** Highlights the names of fields without a value, in place of their braces. */
function markUnfilled(mail: Document, names: readonly string[]): void {
  if (names.length === 0) return;
  const walker = mail.createTreeWalker(mail.body, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode() !== null) texts.push(walker.currentNode as Text);
  for (const text of texts) {
    if (text.parentElement?.matches('style, script, title') === true) continue;
    const parts = text.data.split(/\{\{([^{}]+)\}\}/);
    if (parts.length === 1) continue;
    // Every second part is a name.
    text.replaceWith(
      ...parts.map((part, index) => {
        if (index % 2 === 0) return part;
        return names.includes(part) ? chip(mail, part) : `{{${part}}}`;
      }),
    );
  }
}

function chip(mail: Document, name: string): HTMLElement {
  const element = mail.createElement('mark');
  element.setAttribute(mark, '');
  element.textContent = name;
  element.style.cssText =
    'display: inline-block; max-width: 100%; padding: 1px 5px; border-radius: 4px; background: #fff0c2; color: #6a4a00';
  return element;
}

/** The text of a node and of what it was one text with before names in it were highlighted. */
function textAround(node: Node | undefined): string | undefined {
  const parent = node?.parentElement;
  const around = parent?.hasAttribute(mark) === true ? parent.parentElement : parent;
  if (around?.querySelector(`:scope > [${mark}]`) == null) return node?.textContent ?? undefined;
  return [...around.childNodes]
    .map((one) =>
      one instanceof Element && one.hasAttribute(mark) ? `{{${one.textContent}}}` : one.textContent,
    )
    .join('');
}

/** How an email app changes the colors of emails in dark mode. */
type Inversion = 'light' | 'all';

/** More elements than any email has. In larger ones nothing is changed, so that the page doesn't hang. */
const maxElements = 20_000;

const white: Color = { text: 'rgb(255, 255, 255)', isLight: true, isVisible: true };

const sides = ['top', 'right', 'bottom', 'left'] as const;

interface Color {
  readonly text: string;
  readonly isLight: boolean;
  readonly isVisible: boolean;
}

/**
 * Changes the colors of an email as apps do that force dark mode on it. Like theirs, it turns the lightness around and keeps the
 * hue; images stay.
 * @param inversion `light`: only light backgrounds and dark texts; `all`: every background and text, so dark ones become light
 */
function invertColors(mail: Document, inversion: Inversion): void {
  const elements = [mail.documentElement, ...mail.documentElement.querySelectorAll('*')];
  if (elements.length > maxElements) return;
  const backgrounds = new Map<Element, Color>();
  const changes: (() => void)[] = [];
  for (const element of elements) {
    if (!(element instanceof HTMLElement) || element.matches('head, head *')) continue;
    const style = getComputedStyle(element);
    const own = readColor(style.backgroundColor);
    const behind = backgroundBehind(element, backgrounds);
    const background = own.isVisible ? own : behind;
    backgrounds.set(element, background);
    const set = (name: string, color: string) =>
      changes.push(() => element.style.setProperty(name, inverted(color), 'important'));
    const isChanged = (color: Color) => inversion === 'all' || color.isLight;
    if (own.isVisible && isChanged(own)) set('background-color', own.text);
    const text = readColor(style.color);
    if (inversion === 'all' || (background.isLight && !text.isLight)) set('color', text.text);
    else changes.push(() => element.style.setProperty('color', text.text, 'important'));
    for (const side of sides) {
      const name = `border-${side}-color`;
      const isDrawn = style.getPropertyValue(`border-${side}-style`) !== 'none';
      if (isDrawn && isChanged(behind)) set(name, style.getPropertyValue(name));
    }
  }
  // Only now, so that no change is read as a color of the email.
  for (const change of changes) change();
  const root = backgrounds.get(mail.documentElement);
  if (root === white) mail.documentElement.style.backgroundColor = inverted(white.text);
}

function backgroundBehind(element: Element, backgrounds: ReadonlyMap<Element, Color>): Color {
  const { parentElement } = element;
  return (parentElement && backgrounds.get(parentElement)) ?? white;
}

/** White becomes almost black, as the apps' own background is. */
function inverted(color: string): string {
  return `lab(from ${color} calc(100 - 0.89 * l) a b / alpha)`;
}

/** Reads a computed color; those in other color spaces count as light. */
function readColor(text: string): Color {
  const [red = 255, green = 255, blue = 255, alpha = 1] = (
    /^rgba?\(([^)]*)\)$/.exec(text)?.[1] ?? ''
  )
    .split(/[\s,/]+/)
    .filter((part) => part !== '')
    .map(Number);
  const brightness = (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
  return { text, isLight: brightness > 0.5, isVisible: alpha > 0 };
}
