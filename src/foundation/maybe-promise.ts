/** A value, or a promise if the database must be queried; hot paths only await the latter. */
export type MaybePromise<Value> = Value | Promise<Value>;
