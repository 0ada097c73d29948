/** A value, or a promise if the database must be queried; hot paths only await the latter. */
export type MaybePromise<Value> = Value | Promise<Value>;

/** Calls a function with a value: at once unless it is a promise. */
export function andThen<Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** As `Promise.all`, which makes a promise for each value, even if none is one. */
export function awaitAll<Value>(
  values: readonly MaybePromise<Value>[],
): MaybePromise<readonly Value[]> {
  return values.some((value) => value instanceof Promise)
    ? Promise.all(values)
    : (values as readonly Value[]);
}
