/** The filter of the replies, kept in the page URL. */
export interface ReplyFilters {
  /** The address that they are from. */
  readonly from?: string;
}

/** Parses the filter from the URL and ignores an invalid one. */
export function readReplyFilters({ from }: Readonly<Record<string, unknown>>): ReplyFilters {
  return typeof from === 'string' && from.trim() !== '' ? { from: from.trim() } : {};
}
