import type { InboxMessageId } from './inbox-message.ts';

/** What the list shows; every link of the pages carries it on. */
export interface ListState {
  /** Empty shows everything. */
  readonly search: string;
  /** Counted from 1. */
  readonly page: number;
}

/** Messages on one page of the list. */
export const pageSize = 50;

const maxSearchCharacters = 200;
const maxPages = 100_000;

/** Reads `q` and `page`; what cannot be used counts as not given, since it came from an address bar. */
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

/** The address of a page of the list. */
export function listUrl(state: ListState): string {
  return `/inbox${queryOf(state)}`;
}

/** The address of a message with the list as it is; `view` is the tab. */
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
