/** The version that the page shows, kept in the page URL. */
export interface VersionFilters {
  readonly shown?: number;
}

/** Parses the version from the URL and ignores invalid ones. */
export function readVersionFilters(search: Readonly<Record<string, unknown>>): VersionFilters {
  const shown = Number(search.shown);
  return Number.isInteger(shown) && shown > 0 ? { shown } : {};
}
