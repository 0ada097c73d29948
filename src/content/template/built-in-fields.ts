/** Set for messages with one-click unsubscribe; otherwise empty. */
export const unsubscribeField = 'Unsubscribe Link';

/** Fields that the service fills in, so requests don't supply them. */
export const builtInFields: ReadonlySet<string> = new Set([unsubscribeField]);
