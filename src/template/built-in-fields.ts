/** Set per message when it can be unsubscribed from with one click; otherwise empty. */
export const unsubscribeField = 'Unsubscribe Link';

/** Fields that the service fills in; a request need not supply them. */
export const builtInFields: ReadonlySet<string> = new Set([unsubscribeField]);
