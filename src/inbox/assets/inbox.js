/*
 * Keeps an open page current: the server says that something happened, the page asks for itself again and takes over
 * the parts marked `data-live`. Everything works without this script; then a reload shows what is new.
 */

const refreshDelay = 80;
const ageInterval = 30_000;

const live = document.getElementById('live');
const announcer = document.getElementById('announcer');

/** @type {EventSource | undefined} */
let source;
let timer;
let asking = false;
let askAgain = false;

/** @param {'on' | 'off'} state */
function show(state) {
  live.hidden = false;
  live.dataset.state = state;
  live.firstElementChild.textContent = state === 'on' ? 'Live' : 'Reconnecting';
}

function connect() {
  if (source !== undefined) return;
  source = new EventSource('/inbox/updates');
  source.addEventListener('open', () => {
    show('on');
    schedule();
  });
  source.addEventListener('error', () => show('off'));
  source.addEventListener('arrived', schedule);
  source.addEventListener('emptied', schedule);
}

/** A hidden page lets its connection go: browsers allow only a few to one host. */
function disconnect() {
  source?.close();
  source = undefined;
}

function schedule() {
  clearTimeout(timer);
  timer = setTimeout(refresh, refreshDelay);
}

async function refresh() {
  if (asking) {
    askAgain = true;
    return;
  }
  asking = true;
  try {
    const response = await fetch(location.href, { headers: { accept: 'text/html' } });
    if (response.status === 404) location.assign('/inbox');
    else if (response.ok) takeOver(await response.text());
  } catch {
    // The service is away; the event source says so and comes back by itself.
  } finally {
    asking = false;
    if (askAgain) {
      askAgain = false;
      schedule();
    }
  }
}

/** @param {string} text a whole page */
function takeOver(text) {
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
  markFresh(before);
}

function rows() {
  return [...document.querySelectorAll('a.mail')];
}

function hrefs() {
  return new Set(rows().map((row) => row.getAttribute('href')));
}

/** @param {Set<string | null>} before */
function markFresh(before) {
  const fresh = rows().filter((row) => !before.has(row.getAttribute('href')));
  for (const row of fresh) row.classList.add('fresh');
  if (fresh.length > 0) {
    const [first] = fresh;
    const subject = first.querySelector('.mail-subject')?.textContent ?? '';
    announcer.textContent =
      fresh.length === 1 ? `New message: ${subject}` : `${fresh.length} new messages`;
  }
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) disconnect();
  else connect();
});
addEventListener('pagehide', disconnect);
addEventListener('pageshow', connect);
setInterval(() => {
  if (!document.hidden) schedule();
}, ageInterval);

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
