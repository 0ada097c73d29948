import { Html, html } from '../../../base/values/html.ts';
import { brandHead } from '../../../host/brand/brand-files.ts';
import { brandMark } from '../../../host/brand/tokens.ts';
import type { ListState } from '../list-state.ts';
import type { AssetUrls } from '../read-assets.ts';

/** Decorative line icons on a 24-unit grid, in the color of the surrounding text. */
const paths = {
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM20 20l-4.8-4.8',
  bin: 'M4 7h16M9.5 7V4.5h5V7M6.5 7l.8 12.5h9.4L17.5 7M10.2 11v5M13.8 11v5',
  back: 'M19 12H5M11 6l-6 6 6 6',
  older: 'M9 5l7 7-7 7',
  newer: 'M15 5l-7 7 7 7',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  envelope: 'M3.5 6h17v12.5h-17zM4 6.5l8 6.5 8-6.5',
  download: 'M12 4v11M7 10.5l5 5 5-5M5 20h14',
  open: 'M13.5 4.5h6v6M19.5 4.5l-8.5 8.5M17 14v5.5H4.5V7H10',
  shield: 'M12 3l7.5 2.8V12c0 4.5-3 7.6-7.5 9.2C7.5 19.6 4.5 16.5 4.5 12V5.8z',
} as const;

/** An icon as inline SVG. */
export function icon(name: keyof typeof paths): Html {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d="${paths[name]}"/></svg>`;
}

/** A button that copies a text; the script of the inbox shows it where the browser can. */
export function renderCopyButton(text: string, label: string): Html {
  return html`<button type="button" class="copy" data-copy="${text}" aria-label="${label}" title="${label}" hidden>${icon('copy')}</button>`;
}

interface LayoutProps {
  readonly assets: AssetUrls;
  /** The title of the browser tab, without the product name. */
  readonly title: string;
  readonly state: ListState;
  /** The main half of the page, and the only one on narrow screens. */
  readonly focus: 'list' | 'message';
  /** Both halves. */
  readonly list: Html;
  readonly main: Html;
}

/** An inbox page: the bar, the list and the area next to it. */
export function renderLayout(props: LayoutProps): string {
  const { assets, title, state, focus, list, main } = props;
  const page = html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} · Signalpost</title>
    ${new Html(brandHead)}
    <link rel="stylesheet" href="${assets.style}">
    <script src="${assets.script}" type="module"></script>
  </head>
  <body class="focus-${focus}">
    <a class="skip" href="#main">${focus === 'list' ? 'Skip to messages' : 'Skip to message'}</a>
    <header class="bar">
      <a class="brand" href="/inbox">${new Html(brandMark)}<span class="brand-name">Signalpost</span> <span class="brand-room">Inbox</span></a>
      <form class="search" action="/inbox" role="search">
        ${icon('search')}
        <input type="search" name="q" value="${state.search}" placeholder="Subject, address or text" aria-label="Search inbox" maxlength="200" autocomplete="off" spellcheck="false">
        <button type="submit">Search</button>
      </form>
      <div class="actions">
        <p class="live" id="live" data-state="off" hidden><span class="live-word">Live</span></p>
        <details class="menu">
          <summary>${icon('bin')}<span>Empty</span></summary>
          <form class="menu-card" method="post" action="/inbox/empty">
            <p>Delete all messages in this inbox?</p>
            <button type="submit" class="danger">Delete all</button>
          </form>
        </details>
      </div>
    </header>
    <div class="halves">
      ${
        focus === 'list'
          ? html`<main class="list" id="main" tabindex="-1">${list}</main><aside class="main" aria-label="About the inbox">${main}</aside>`
          : html`<nav class="list" aria-label="Messages">${list}</nav><main class="main" id="main" tabindex="-1">${main}</main>`
      }
    </div>
    <p class="visually-hidden" role="status" id="announcer"></p>
  </body>
</html>
`;
  return page.toString();
}
