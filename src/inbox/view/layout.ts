import { brandHead } from '../../brand/brand-files.ts';
import { brandMark } from '../../brand/tokens.ts';
import { Html, html } from '../../foundation/html.ts';
import type { ListState } from '../list-state.ts';
import type { AssetUrls } from '../read-assets.ts';
import { icon } from './icons.ts';

export interface LayoutProps {
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
