/** Which failed requests are shown, kept in the page URL. */
export interface RequestFilter {
  /** The ID of a key or OAuth app. */
  readonly clientId?: string;
  readonly error?: string;
}

/** Parses the filter from the URL. */
export function readRequestFilter(search: Readonly<Record<string, unknown>>): RequestFilter {
  const given = (['clientId', 'error'] as const).filter((name) => {
    const value = search[name];
    return typeof value === 'string' && value !== '' && value.length <= 100;
  });
  return Object.fromEntries(given.map((name) => [name, search[name]]));
}
