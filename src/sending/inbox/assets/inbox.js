/*
 * Keeps an open page current: after each server event, it fetches the page again and replaces the elements marked
 * `data-live`. Without this script, a reload shows new mail.
 */

const refreshDelayMs = 80;
const ageIntervalMs = 30_000;

const live = document.getElementById('live');
const announcer = document.getElementById('announcer');

/** @type {EventSource | undefined} */
let source;
// Times of the next page are in the time zone of this browser.
// biome-ignore lint/suspicious/noDocumentCookie: Firefox has no Cookie Store API
document.cookie = `signalpost_zone=${new Intl.DateTimeFormat().resolvedOptions().timeZone}; path=/; max-age=31536000; samesite=lax`;

let timer;
let refreshing = false;
let refreshAgain = false;

/** @param {'on' | 'off'} state */
function showState(state) {
  live.hidden = false;
  live.dataset.state = state;
  live.firstElementChild.textContent = state === 'on' ? 'Live' : 'Reconnecting';
}

function connect() {
  if (source !== undefined) return;
  source = new EventSource('/inbox/updates');
  source.addEventListener('open', () => {
    showState('on');
    schedule();
  });
  source.addEventListener('error', () => showState('off'));
  source.addEventListener('arrived', schedule);
  source.addEventListener('emptied', schedule);
}

/** A hidden page disconnects, because browsers allow only a few connections per host. */
function disconnect() {
  source?.close();
  source = undefined;
}

function schedule() {
  clearTimeout(timer);
  timer = setTimeout(refresh, refreshDelayMs);
}

async function refresh() {
  if (refreshing) {
    refreshAgain = true;
    return;
  }
  refreshing = true;
  try {
    const response = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (response.status === 404) location.assign('/inbox');
    else if (response.ok) replaceLiveParts(await response.text());
  } catch {
    // The service is unreachable. The event source shows that and reconnects automatically.
  } finally {
    refreshing = false;
    if (refreshAgain) {
      refreshAgain = false;
      schedule();
    }
  }
}

/** @param {string} text a whole page */
function replaceLiveParts(text) {
  const page = new DOMParser().parseFromString(text, 'text/html');
  const before = hrefs();
  const focused = document.activeElement?.closest('[data-live] a')?.getAttribute('href');
  for (const part of document.querySelectorAll('[data-live]')) {
    const fresh = page.getElementById(part.id);
    if (fresh !== null && fresh.innerHTML !== part.innerHTML) part.replaceWith(fresh);
  }
  document.title = page.title;
  if (focused)
    document.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  markNewRows(before);
}

function rows() {
  return [...document.querySelectorAll('a.mail')];
}

function hrefs() {
  return new Set(rows().map((row) => row.getAttribute('href')));
}

/** @param {Set<string | null>} before */
function markNewRows(before) {
  const fresh = rows().filter((row) => !before.has(row.getAttribute('href')));
  for (const row of fresh) row.classList.add('fresh');
  if (fresh.length > 0) {
    const [first] = fresh;
    const subject = first.querySelector('.mail-subject')?.textContent ?? '';
    announcer.textContent =
      fresh.length === 1 ? `New message: ${subject}` : `${fresh.length} new messages`;
  }
}

// The buttons work where the browser can copy. What they copy isn't replaced by an update.
if (navigator.clipboard !== undefined)
  for (const button of document.querySelectorAll('[data-copy]')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.dataset.done = '';
      announcer.textContent = 'Copied';
    });
  }

document.addEventListener('visibilitychange', () => {
  if (document.hidden) disconnect();
  else connect();
});
addEventListener('pagehide', disconnect);
addEventListener('pageshow', connect);
setInterval(() => {
  if (!document.hidden) schedule();
}, ageIntervalMs);

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  const menu = document.querySelector('details.menu[open]');
  if (menu === null) return;
  menu.removeAttribute('open');
  menu.querySelector('summary')?.focus();
});
document.addEventListener('click', (event) => {
  const menu = document.querySelector('details.menu[open]');
  if (menu !== null && !menu.contains(event.target)) menu.removeAttribute('open');
});

connect();
