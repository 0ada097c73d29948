import { AsyncLocalStorage } from 'node:async_hooks';
import * as runner from 'node:test';

/** What test files get as `node:test`: tests and hooks belong to the test that runs, or to the file that is being read. */
export { mock } from 'node:test';

type Context = runner.TestContext;

/** The file that is being read, where files share a process. */
let file: Context | undefined;
const running = new AsyncLocalStorage<Context>();

/** The tests of the file. */
const defined: Promise<void>[] = [];

/** Undefined: the file has a process alone. */
let stops: (() => Promise<void>)[] | undefined;

/** What the group of tests that is being read defines. */
let group: ((context: Context) => Promise<void> | void)[] | undefined;

/** How long a process may live after its last test, in which it stops what its files shared. */
const endWithinMs = 120_000;

/** Reads files of tests that share this process, one after another. @param files their paths and URLs */
export async function readFiles(
  files: readonly (readonly [path: string, url: string])[],
): Promise<void> {
  stops = [];
  // A test that ends the process must not hide what comes after it.
  const fail = () => process.exit(1);
  process.once('exit', fail);
  for (const [path, url] of files)
    await runner.test(path, async (context) => {
      file = context;
      defined.length = 0;
      await import(url);
      // The runner waits for its own promise only until no test is left, which can be in the middle of a file that awaits.
      await Promise.all(defined);
    });
  // After a failed hook, a service or a connection may keep the process alive.
  setTimeout(() => process.exit(1), endWithinMs).unref();
  for (const stop of stops.reverse()) await stop();
  process.off('exit', fail);
}

type Test = (name: string, options: runner.TestOptions, run: runner.TestFn) => Promise<void>;

/** Like `test(name, run)` and `test(name, options, run)` of the runner. */
export const test: Test = (...args) => {
  const define = args.map((value) => (typeof value === 'function' ? follow(value) : value));
  const add: Test = (...given) => (running.getStore() ?? file ?? runner).test(...given);
  const defineIn = () => add(...(define as Parameters<Test>));
  if (group === undefined) {
    const done = defineIn();
    if (running.getStore() === undefined) defined.push(done);
    return done;
  }
  group.push((context) => running.run(context, defineIn));
  return Promise.resolve();
};

/** Without a second parameter: the runner would wait for a callback. */
function follow(run: runner.TestFn): runner.TestFn {
  return (context) => running.run(context as Context, () => run(context as never, () => undefined));
}

export function describe(
  name: string,
  ...rest: [read: () => void] | [options: runner.TestOptions, read: () => void]
): void {
  const [read, options = {}] = rest.toReversed() as [() => void, runner.TestOptions?];
  const members: typeof group = [];
  group = members;
  read();
  group = undefined;
  void test(name, options, async (context) => {
    await Promise.all(members.map((define) => define(context as Context)));
  });
}

type HookName = 'before' | 'after' | 'beforeEach' | 'afterEach';
type Hook = (...args: Parameters<typeof runner.after>) => void;

/** A hook that waits for what a failed test left (a connection, a lock) fails, and the next file of the process runs. */
const hookTimeoutMs = 120_000;

function hook(name: HookName): Hook {
  return (run, options) => {
    const limited = { timeout: hookTimeoutMs, ...options };
    if (group === undefined) (running.getStore() ?? file ?? runner)[name](run, limited);
    else group.push((context) => context[name](run, limited));
  };
}

/** Runs once, after all files of the process. The runner's own hook would run as soon as no test is left to run. */
export function afterAllFiles(run: () => Promise<void>): void {
  if (stops === undefined) runner.after(run, { timeout: hookTimeoutMs });
  else stops.push(run);
}

export const before = hook('before');
export const after = hook('after');
export const beforeEach = hook('beforeEach');
export const afterEach = hook('afterEach');
