import { type Html, html } from '../../../base/values/html.ts';
import { formatAge, formatFullTime } from '../format-time.ts';
import type { CapturedMessageSummary, InboxMessageId } from '../inbox-message.ts';
import { type ListState, listUrl, messageUrl, pageSize } from '../list-state.ts';
import { icon, renderCopyButton } from './layout.ts';

interface ListViewProps {
  readonly summaries: readonly CapturedMessageSummary[];
  /** Number of messages on all pages. */
  readonly total: number;
  readonly state: ListState;
  /** The message open next to the list. */
  readonly selected: InboxMessageId | undefined;
  readonly now: Date;
  /** Of the browser. */
  readonly timeZone: string;
}

/** The message list with its count and page links. */
export function renderList(props: ListViewProps): Html {
  const { summaries, total, state, selected } = props;
  return html`<div id="messages" data-live>
  <div class="list-head">
    ${
      selected === undefined
        ? html`<h1>${heading(total, state)}</h1>`
        : html`<h2>${heading(total, state)}</h2>`
    }
    ${state.search === '' ? '' : html`<a class="quiet" href="/inbox">Show all</a>`}
  </div>
  ${
    summaries.length === 0
      ? renderEmpty(state)
      : html`<ol class="mails">${summaries.map((summary) => renderRow(summary, props))}</ol>`
  }
  ${renderPages(total, state)}
</div>`;
}

function heading(total: number, state: ListState): Html {
  const count = new Intl.NumberFormat('en').format(total);
  const noun = total === 1 ? 'message' : 'messages';
  return state.search === ''
    ? html`<strong>${count}</strong> ${noun}`
    : html`<strong>${count}</strong> ${noun} matching “${state.search}”`;
}

function renderRow(summary: CapturedMessageSummary, props: ListViewProps): Html {
  const { state, selected, now, timeZone } = props;
  const to = summary.envelopeTo.join(', ');
  const current = summary.id === selected ? 'page' : 'false';
  const subject = summary.subject === '' ? '(no subject)' : summary.subject;
  return html`<li>
  <a class="mail" href="${messageUrl(summary.id, state)}" aria-current="${current}">
    <span class="avatar hue-${hueOf(to)}" aria-hidden="true">${initialOf(to)}</span>
    <span class="mail-to">${highlightMatches(to, state.search)}</span>
    <time datetime="${summary.receivedAt.toISOString()}" title="${formatFullTime(summary.receivedAt, timeZone)}">${formatAge(summary.receivedAt, now, timeZone)}</time>
    <span class="mail-subject">${highlightMatches(subject, state.search)}</span>
    <span class="mail-beginning">${highlightMatches(tidyBeginning(summary.beginning), state.search)}</span>
  </a>
</li>`;
}

/** The beginning of a text, without URLs. */
function tidyBeginning(text: string): string {
  return text
    .replace(/<?https?:\/\/[^\s>]*>?/gi, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, beginningCharacters);
}

function renderEmpty(state: ListState): Html {
  return state.search === ''
    ? html`<div class="nothing">${icon('envelope')}<p>No mail yet</p><p class="hint">Messages appear here when the service sends them.</p></div>`
    : html`<div class="nothing">${icon('search')}<p>No messages found</p><p class="hint">The search finds exact text in subjects, addresses and bodies.</p></div>`;
}

function renderPages(total: number, state: ListState): Html | undefined {
  const last = Math.max(1, Math.ceil(total / pageSize));
  if (last === 1 && state.page === 1) return undefined;
  const step = (page: number, label: string, glyph: Html): Html =>
    page < 1 || page > last
      ? html`<span class="step" aria-hidden="true">${glyph}</span>`
      : html`<a class="step" href="${listUrl({ ...state, page })}" aria-label="${label}" title="${label}">${glyph}</a>`;
  return html`<div class="pages" role="group" aria-label="Pages">
  ${step(state.page - 1, 'Newer messages', icon('newer'))}
  <span>Page ${state.page} of ${last}</span>
  ${step(state.page + 1, 'Older messages', icon('older'))}
</div>`;
}

const beginningCharacters = 160;

const hues = 8;

/** One of eight hues, always the same for a recipient. */
function hueOf(text: string): number {
  let sum = 0;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return sum % hues;
}

function initialOf(text: string): string {
  return (/[\p{L}\p{N}]/u.exec(text)?.[0] ?? '?').toUpperCase();
}

/** The text as HTML, with every case-insensitive match of the search marked. */
function highlightMatches(text: string, search: string): Html {
  const haystack = text.toLowerCase();
  const needle = search.toLowerCase();
  // Lowercasing can change the length of a text, and then the positions differ.
  if (needle === '' || haystack.length !== text.length) return html`${text}`;
  const pieces: Html[] = [];
  let end = 0;
  for (;;) {
    const start = haystack.indexOf(needle, end);
    if (start < 0) break;
    const stop = start + needle.length;
    pieces.push(html`${text.slice(end, start)}<mark>${text.slice(start, stop)}</mark>`);
    end = stop;
  }
  return html`${pieces}${text.slice(end)}`;
}

/** Shown next to the list while no message is open; explains how programs read the messages. */
export function renderWelcome(origin: string): Html {
  const command = `curl -G ${origin}/inbox/api/messages \\\n  -H "Authorization: Bearer $INBOX_TOKEN" \\\n  -d to=reader@example.com -d wait=30`;
  return html`<div class="welcome">
  <span class="welcome-mark">${icon('envelope')}</span>
  <h2>Captured mail</h2>
  <p>All mail is captured in this inbox instead of being delivered. Choose a message to see its HTML, text, links and headers.</p>
  <h3>From a test</h3>
  <p>Wait for a message to this recipient and get it as JSON:</p>
  <div class="copied-block"><pre class="command" tabindex="0"><code>${command}</code></pre>${renderCopyButton(command, 'Copy command')}</div>
</div>`;
}
