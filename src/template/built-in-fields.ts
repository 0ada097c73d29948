/** Filled in for each message where it may be unsubscribed from by one click; elsewhere empty. */
export const unsubscribeField = 'Unsubscribe Link';

/** Fields that the service fills in itself; a request need not give them a value. */
export const builtInFields: ReadonlySet<string> = new Set([unsubscribeField]);
