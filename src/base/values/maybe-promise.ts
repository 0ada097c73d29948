/** A value, or a promise if the database must be queried; hot paths only await the latter. */
export type MaybePromise<Value> = Value | Promise<Value>;

/** Calls a function with a value: at once unless it is a promise. */
export function andThen<Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Like `Promise.all`, but makes no promises if no value is one. */
export function awaitAll<Value>(
  values: readonly MaybePromise<Value>[],
): MaybePromise<readonly Value[]> {
  return values.some((value) => value instanceof Promise)
    ? Promise.all(values)
    : (values as readonly Value[]);
}

/** Steps that pause only to wait for a promise; `runSteps` runs them. */
export type Steps<Result> = Generator<Promise<unknown>, Result, unknown>;

/** Within steps, unwraps a possible promise: `const account = yield* resolved(lookup)`. */
export function* resolved<Value>(value: MaybePromise<Value>): Steps<Value> {
  return value instanceof Promise ? ((yield value) as Value) : value;
}

/** Runs steps: at once unless one waits. They can't catch errors of awaited promises. */
export function runSteps<Result>(steps: Steps<Result>): MaybePromise<Result> {
  const next = steps.next();
  return next.done === true ? next.value : continueSteps(steps, next.value);
}

async function continueSteps<Result>(
  steps: Steps<Result>,
  first: Promise<unknown>,
): Promise<Result> {
  let waiting = first;
  for (;;) {
    const next = steps.next(await waiting);
    if (next.done === true) return next.value;
    waiting = next.value;
  }
}
