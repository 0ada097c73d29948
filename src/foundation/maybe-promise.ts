/** A value, or the promise of one where the database has to be asked: hot paths wait only for the latter. */
export type MaybePromise<Value> = Value | Promise<Value>;
