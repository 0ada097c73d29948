/**
 * The header field, name and value, that makes browsers use only https for a year (RFC 6797 section 6.1). Subdomains
 * aren't included, because they may belong to other services.
 */
export const strictTransport = ['strict-transport-security', 'max-age=31536000'] as const;

/** `strictTransport`, or nothing if the service is reached by http. */
export type TransportHeader = typeof strictTransport | readonly [];
