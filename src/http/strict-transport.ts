/**
 * The header field, name and value, that makes browsers use https alone for a year (RFC 6797 section 6.1). Subdomains are left
 * out: they may belong to other services.
 */
export const strictTransport = ['strict-transport-security', 'max-age=31536000'] as const;

/** `strictTransport`, or nothing where the service is reached by http. */
export type TransportHeader = typeof strictTransport | readonly [];
