/** The search and the open mail, kept in the page URL. */
export interface InboxFilters {
  readonly search?: string;
  readonly mail?: string;
}

/** Parses filters from the URL and ignores invalid ones. */
export function readInboxFilters(given: Readonly<Record<string, unknown>>): InboxFilters {
  const search = typeof given.search === 'string' ? given.search.trim() : '';
  const { mail } = given;
  return {
    ...(search !== '' && { search }),
    ...(typeof mail === 'string' && /^[0-9a-f-]{36}$/i.test(mail) && { mail }),
  };
}
