/** The person, kept in the page URL. */
export interface PersonFilter {
  readonly address?: string;
}

/** Parses the address from the URL and ignores what can't be one. */
export function readPersonFilter({ address }: Readonly<Record<string, unknown>>): PersonFilter {
  return typeof address === 'string' && /.@./.test(address) ? { address: address.trim() } : {};
}
