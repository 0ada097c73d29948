import { invertColors } from './invert-colors.ts';
import { type ChangeKind, markChanges } from './mark-changes.ts';
import { markUnfilled, textAround } from './mark-unfilled.ts';

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

function renderMail({ html, colors, marks, unfilled = [], ...rest }: MailFrameMessage): void {
  picksText = rest.picksText;
  // Scripts in a parsed document never run.
  const mail = new DOMParser().parseFromString(html, 'text/html');
  // A refresh would leave the mail for a page that the policy blocks.
  for (const meta of mail.querySelectorAll('meta[http-equiv]')) meta.remove();
  for (const link of mail.querySelectorAll<HTMLAnchorElement>('a[href], area[href]')) {
    link.target = '_blank';
    link.rel = 'noopener noreferrer';
  }
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

/** Whether a link names its target in full; others would lead into the console. */
function leadsOutside(link: Element): boolean {
  const target = URL.parse(link.getAttribute('href') ?? '');
  return target !== null && ['http:', 'https:', 'mailto:', 'tel:'].includes(target.protocol);
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
addEventListener('click', (event) => {
  const { clientX, clientY, target } = event;
  const link = target instanceof Element ? target.closest('[href]') : null;
  if (picksText || (link !== null && !leadsOutside(link))) event.preventDefault();
  if (!picksText) return;
  const clicked = textAround(document.caretPositionFromPoint?.(clientX, clientY)?.offsetNode);
  if (clicked?.trim()) parent.postMessage({ clicked: clicked.slice(0, 1_000) }, '*');
});
parent.postMessage({ ready: true }, '*');
