import { browserTimeZone } from '../http/browser-time-zone.ts';
import type { Http } from '../http/create-http.ts';
import { answerPage } from './answer-page.ts';
import type { InboxStore } from './inbox-store.ts';
import { pageSize, readListState } from './list-state.ts';
import type { AssetUrls } from './read-assets.ts';
import { renderLayout } from './view/layout.ts';
import { renderList } from './view/list-view.ts';
import { renderWelcome } from './view/welcome-view.ts';

export interface InboxPageDependencies {
  readonly store: InboxStore;
  readonly assets: AssetUrls;
}

/** `GET /inbox?q=&page=`: the message list as a page. */
export function registerInboxPageRoutes(
  http: Http,
  { store, assets }: InboxPageDependencies,
): void {
  http.get('/', async (request, reply) => {
    const state = readListState(request.query as Readonly<Record<string, unknown>>);
    const { summaries, total } = await store.list(
      state.search,
      (state.page - 1) * pageSize,
      pageSize,
    );
    const list = renderList({
      summaries,
      total,
      state,
      selected: undefined,
      now: new Date(),
      timeZone: browserTimeZone(request),
    });
    return answerPage(
      reply,
      renderLayout({
        assets,
        title: total === 0 ? 'Inbox' : `Inbox (${total})`,
        state,
        focus: 'list',
        list,
        main: renderWelcome(`${request.protocol}://${request.host}`),
      }),
    );
  });
}
