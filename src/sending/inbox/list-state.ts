import type { InboxMessageId } from './inbox-message.ts';

/** The state of the list, carried in every link. */
export interface ListState {
  /** Empty matches everything. */
  readonly search: string;
  /** Starting at 1. */
  readonly page: number;
}

/** Messages per page. */
export const pageSize = 50;

const maxSearchCharacters = 200;
const maxPages = 100_000;

/** Reads `q` and `page`; invalid values are ignored, since people can edit the URL. */
export function readListState(query: Readonly<Record<string, unknown>>): ListState {
  const search = typeof query.q === 'string' ? query.q : '';
  const page = typeof query.page === 'string' && /^\d{1,6}$/.test(query.page) ? +query.page : 1;
  return {
    search: [...search.replaceAll('\0', '').toWellFormed().trim()]
      .slice(0, maxSearchCharacters)
      .join(''),
    page: Math.min(Math.max(page, 1), maxPages),
  };
}

/** The URL of a page of the list. */
export function listUrl(state: ListState): string {
  return `/inbox${queryOf(state)}`;
}

/** The URL of a message that keeps the list's state; `view` is the tab. */
export function messageUrl(
  id: InboxMessageId,
  state: ListState,
  view: Readonly<Record<string, string>> = {},
): string {
  return `/inbox/messages/${id}${queryOf(state, view)}`;
}

function queryOf(state: ListState, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(more);
  if (state.search !== '') query.set('q', state.search);
  if (state.page > 1) query.set('page', String(state.page));
  return query.size === 0 ? '' : `?${query}`;
}
