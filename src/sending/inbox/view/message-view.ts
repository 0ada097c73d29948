import { parseMailboxes } from '../../../base/mime/parse-mailboxes.ts';
import { type Html, html } from '../../../base/values/html.ts';
import { formatAge, formatFullTime } from '../format-time.ts';
import { type CapturedMessage, headerValues } from '../inbox-message.ts';
import { type ListState, listUrl, messageUrl } from '../list-state.ts';
import type { MailLink, PreparedHtml } from '../prepare-html.ts';
import { cutAtLinks } from '../safe-link.ts';
import { icon, renderCopyButton } from './layout.ts';

/** The tabs of a message, in order. */
export const tabs = ['html', 'text', 'links', 'headers', 'source'] as const;
export type Tab = (typeof tabs)[number];

const tabNames: Readonly<Record<Tab, string>> = {
  html: 'HTML',
  text: 'Text',
  links: 'Links',
  headers: 'Headers',
  source: 'Source',
};

interface MessageViewProps {
  readonly message: CapturedMessage;
  readonly links: readonly MailLink[];
  readonly state: ListState;
  readonly tab: Tab;
  /** The content of the tab. */
  readonly panel: Html;
  readonly now: Date;
  /** Of the browser. */
  readonly timeZone: string;
}

/** A message: addresses, time, tabs and the content of the selected tab. */
export function renderMessageView(props: MessageViewProps): Html {
  const { message, state, tab, panel, now, timeZone } = props;
  const received = formatFullTime(message.receivedAt, timeZone);
  return html`<article class="message tab-${tab}">
  <header class="message-head">
    <a class="back" href="${listUrl(state)}">${icon('back')}<span>All messages</span></a>
    <h1>${message.subject === '' ? '(no subject)' : message.subject}</h1>
    <dl class="facts">
      ${renderFacts(message)}
      <div><dt>Received</dt><dd><time datetime="${message.receivedAt.toISOString()}" title="${received}">${received}</time> <span class="age" id="age" data-live>${describeAge(message.receivedAt, now, timeZone)}</span></dd></div>
    </dl>
    ${message.unread ? html`<p class="shield">This message can’t be read, so only its headers and source are shown.</p>` : ''}
  </header>
  <nav class="tabs" aria-label="Message parts">${tabs.map((name) => renderTab(name, props))}</nav>
  <section class="panel" aria-label="${tabNames[tab]}">${panel}</section>
</article>`;
}

function renderTab(name: Tab, { message, links, state, tab }: MessageViewProps): Html {
  const current = name === tab ? 'page' : 'false';
  const empty =
    (name === 'html' && message.html === null) || (name === 'text' && message.text === null);
  const count = name === 'links' ? links.length : name === 'headers' ? message.headers.length : 0;
  return html`<a class="${empty ? 'tab tab-empty' : 'tab'}" href="${messageUrl(message.id, state, { view: name })}" aria-current="${current}">${tabNames[name]}${
    count === 0 ? '' : html` <span class="count">${count}</span>`
  }</a>`;
}

function renderFacts(message: CapturedMessage): readonly Html[] {
  const values = (name: string): string => headerValues(message, name).join(', ');
  const from = values('from') || message.envelopeFrom || '(no sender)';
  const replyTo = values('reply-to');
  const shown = `${values('to')} ${values('cc')}`.toLowerCase();
  const hidden = message.envelopeTo.filter((address) => !shown.includes(address.toLowerCase()));
  const facts: [string, string][] = [
    ['From', from],
    ['Reply-To', replyTo === from ? '' : replyTo],
    ['To', values('to')],
    ['Cc', values('cc')],
    ['Delivered to', hidden.join(', ')],
  ];
  return facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => html`<div><dt>${name}</dt><dd>${renderAddress(value)}</dd></div>`);
}

/** Formats name and address separately if the field has exactly one of each. */
function renderAddress(value: string): Html {
  const [mailbox, ...others] = parseMailboxes(value, 2);
  return mailbox === undefined || mailbox.name === '' || others.length > 0
    ? html`${value}`
    : html`<strong>${mailbox.name}</strong> <span class="address">${mailbox.address}</span>`;
}

function describeAge(time: Date, now: Date, timeZone: string): string {
  const age = formatAge(time, now, timeZone);
  return /^\d+ (?:min|h)$/.test(age) ? `${age} ago` : age;
}

/** Max characters of a text or source on the page; the download is complete. */
const maxCharacters = 512 * 1024;

interface PanelProps {
  readonly message: CapturedMessage;
  readonly prepared: PreparedHtml;
  readonly state: ListState;
  /** Shows the HTML at phone width. */
  readonly narrow: boolean;
}

/** The content of a tab. */
export function renderPanel(tab: Tab, props: PanelProps): Html {
  return panels[tab](props);
}

const panels: Readonly<Record<Tab, (props: PanelProps) => Html>> = {
  html: renderHtmlPart,
  text: ({ message }) => renderText(message),
  links: ({ prepared }) => renderLinks(prepared),
  headers: ({ message }) => renderHeaders(message),
  source: ({ message }) => renderSource(message),
};

/**
 * The HTML part in a frame that can't run scripts or load anything. The two sandbox permissions only allow its links to
 * open in new tabs.
 */
function renderHtmlPart({ message, prepared, state, narrow }: PanelProps): Html {
  if (message.html === null) return renderMissing('This message has no HTML part.');
  const frame = `/inbox/messages/${message.id}/html`;
  const width = (label: string, value: string, current: boolean): Html =>
    html`<a href="${messageUrl(message.id, state, { view: 'html', width: value })}" aria-current="${String(current)}">${label}</a>`;
  return html`<div class="tools">
  <div class="switch" role="group" aria-label="Width">${width('Desktop', 'full', !narrow)}${width('Phone', 'phone', narrow)}</div>
  ${renderShield(prepared.remoteLoads)}
  <a class="tool" href="${frame}" target="_blank" rel="noopener">${icon('open')}<span>Open in new tab</span></a>
</div>
<div class="${narrow ? 'stage stage-phone' : 'stage'}">
  <iframe class="paper" src="${frame}" title="HTML message" sandbox="allow-popups allow-popups-to-escape-sandbox" referrerpolicy="no-referrer"></iframe>
</div>`;
}

function renderShield(remoteLoads: number): Html | undefined {
  if (remoteLoads === 0) return undefined;
  const what = remoteLoads === 1 ? '1 remote image' : `${remoteLoads} remote images`;
  return html`<p class="shield">${icon('shield')}<span>${what} not loaded</span></p>`;
}

function renderText(message: CapturedMessage): Html {
  if (message.text === null) return renderMissing('This message has no plain-text part.');
  const shown = message.text.slice(0, maxCharacters);
  const pieces = cutAtLinks(shown).map(({ text, href }) =>
    href === undefined ? html`${text}` : renderLink(text, href),
  );
  return html`<pre class="sheet sheet-text" tabindex="0">${pieces}</pre>${renderTruncationHint(message.text, shown)}`;
}

function renderLinks({ links }: PreparedHtml): Html {
  if (links.length === 0) return renderMissing('This message has no links.');
  return html`<ol class="sheet links">${links.map(
    ({ label, href }) =>
      html`<li><span class="link-label">${label}</span>${renderLink(href, href)}${renderCopyButton(href, `Copy link: ${label}`)}</li>`,
  )}</ol>`;
}

function renderLink(text: string, href: string): Html {
  return html`<a href="${href}" target="_blank" rel="noopener noreferrer">${text}</a>`;
}

function renderHeaders(message: CapturedMessage): Html {
  const rows = (fields: readonly (readonly [string, string])[]): readonly Html[] =>
    fields.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value}</td></tr>`);
  const envelope: [string, string][] = [
    ['MAIL FROM', message.envelopeFrom === '' ? '<>' : message.envelopeFrom],
    ...message.envelopeTo.map((to): [string, string] => ['RCPT TO', to]),
  ];
  return html`<div class="sheet fields" tabindex="0">
  <table><caption>Envelope</caption><tbody>${rows(envelope)}</tbody></table>
  <table><caption>Headers</caption><tbody>${rows(message.headers)}</tbody></table>
</div>`;
}

function renderSource(message: CapturedMessage): Html {
  const shown = message.source.subarray(0, maxCharacters).toString('utf8');
  const size = new Intl.NumberFormat('en').format(message.source.length);
  return html`<div class="tools">
  <p>${size} bytes as received</p>
  <a class="tool" href="/inbox/messages/${message.id}/source" download="${message.id}.eml">${icon('download')}<span>Download .eml</span></a>
</div>
<pre class="sheet sheet-source" tabindex="0">${shown}</pre>${
    message.source.length > maxCharacters ? renderTruncationHint('longer', '') : ''
  }`;
}

function renderMissing(sentence: string): Html {
  return html`<div class="missing"><p>${sentence}</p></div>`;
}

function renderTruncationHint(whole: string, shown: string): Html | undefined {
  return whole.length === shown.length
    ? undefined
    : html`<p class="cut">Only the beginning is shown. Download the full message under Source.</p>`;
}
