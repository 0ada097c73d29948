import { type Html, html } from '../../foundation/html.ts';
import { parseMailboxes } from '../../foundation/mime/parse-mailboxes.ts';
import { formatAge, formatFullTime } from '../format-time.ts';
import { type CapturedMessage, headerValues } from '../inbox-message.ts';
import { type ListState, listUrl, messageUrl } from '../list-state.ts';
import type { MailLink } from '../prepare-html.ts';
import { icon } from './icons.ts';

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

export interface MessageViewProps {
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
