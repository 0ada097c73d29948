import { browserTimeZone } from '../../host/http/browser-time-zone.ts';
import type { Http } from '../../host/http/create-http.ts';
import { answerPage } from './answer-page.ts';
import type { InboxContext } from './inbox-context.ts';
import { type CapturedMessage, parseInboxMessageId } from './inbox-message.ts';
import { type ListState, pageSize, readListState } from './list-state.ts';
import { type PreparedHtml, prepareHtml } from './prepare-html.ts';
import { cutAtLinks } from './safe-link.ts';
import { renderLayout } from './view/layout.ts';
import { renderList, renderWelcome } from './view/list-view.ts';
import { renderMessageView, renderPanel, type Tab, tabs } from './view/message-view.ts';

interface MessageRoute {
  Params: { id: string };
  Querystring: Record<string, unknown>;
}

/**
 * `GET /inbox?q=&page=`: the message list as a page.
 * `GET /inbox/messages/{id}?view=&width=`: a message as a page, with the list beside it.
 */
export function registerInboxPageRoutes(
  http: Http,
  { store, assets, answerProblem }: InboxContext,
): void {
  const list = ({ search, page }: ListState) => store.list(search, (page - 1) * pageSize, pageSize);
  http.get<Pick<MessageRoute, 'Querystring'>>('/', async (request, reply) => {
    const state = readListState(request.query);
    const { summaries, total } = await list(state);
    const times = { now: new Date(), timeZone: browserTimeZone(request) };
    return answerPage(
      reply,
      renderLayout({
        assets,
        title: total === 0 ? 'Inbox' : `Inbox (${total})`,
        state,
        focus: 'list',
        list: renderList({ summaries, total, state, selected: undefined, ...times }),
        main: renderWelcome(`${request.protocol}://${request.host}`),
      }),
    );
  });
  http.get<MessageRoute>('/messages/:id', async (request, reply) => {
    const id = parseInboxMessageId(request.params.id);
    const state = readListState(request.query);
    const [message, { summaries, total }] = await Promise.all([id && store.read(id), list(state)]);
    if (message === undefined) {
      const text = 'This message isn’t in the inbox. It may have been deleted.';
      return answerProblem(request, reply, { status: 404, message: text });
    }
    const times = { now: new Date(), timeZone: browserTimeZone(request) };
    const prepared = await prepare(message);
    const tab = readTab(request.query.view, message);
    const narrow = request.query.width === 'phone';
    const panel = renderPanel(tab, { message, prepared, state, narrow });
    return answerPage(
      reply,
      renderLayout({
        assets,
        title: message.subject === '' ? '(no subject)' : message.subject,
        state,
        focus: 'message',
        list: renderList({ summaries, total, state, selected: message.id, ...times }),
        main: renderMessageView({ message, links: prepared.links, state, tab, panel, ...times }),
      }),
    );
  });
}

/** The requested tab, or the first one with content. */
function readTab(view: unknown, message: CapturedMessage): Tab {
  const requested = tabs.find((tab) => tab === view);
  if (requested !== undefined) return requested;
  if (message.html !== null) return 'html';
  return message.text !== null ? 'text' : 'source';
}

/** The HTML part and its links; the links of the text if there is no HTML. */
async function prepare(message: CapturedMessage): Promise<PreparedHtml> {
  if (message.html !== null) return prepareHtml(message.html);
  const links = cutAtLinks(message.text ?? '').flatMap(({ text, href }) =>
    href === undefined ? [] : [{ label: text, href }],
  );
  return { html: '', links, remoteLoads: 0 };
}
