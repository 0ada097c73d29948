import * as runner from 'node:test';

/** What test files get as `node:test`: tests and hooks belong to the file, or the group of tests, that is being read. */
export { mock } from 'node:test';

/** Undefined: the file has a process of its own. */
let current: runner.TestContext | undefined;

/** Reads a file of tests that shares its process with others, one after another. */
export function readFile(path: string, url: string): void {
  void runner.test(path, (context) => within(context, () => import(url)));
}

type Define = (context: runner.TestContext) => Promise<void> | void;

/** Of the group of tests that is being read. */
let group: Define[] | undefined;

type Test = (name: string, options: runner.TestOptions, run: runner.TestFn) => Promise<void>;

export const test: Test = (...args) => {
  group?.push((context) => context.test(...args));
  if (group !== undefined) return Promise.resolve();
  return current === undefined ? runner.test(...args) : current.test(...args);
};

export function describe(
  name: string,
  ...rest: [read: () => void] | [options: runner.TestOptions, read: () => void]
): void {
  const [read, options = {}] = rest.toReversed() as [() => void, runner.TestOptions?];
  const around = group;
  const defined: Define[] = [];
  group = defined;
  read();
  group = around;
  void test(name, options, async (context) => {
    await Promise.all(defined.map((define) => define(context as runner.TestContext)));
  });
}

type HookName = 'before' | 'after' | 'beforeEach' | 'afterEach';
type Hook = (...args: Parameters<typeof runner.after>) => void;

function hook(name: HookName): Hook {
  return (...args) => {
    if (group === undefined) (current ?? runner)[name](...args);
    else group.push((context) => context[name](...args));
  };
}

export const before = hook('before');
export const after = hook('after');
export const beforeEach = hook('beforeEach');
export const afterEach = hook('afterEach');

async function within(context: runner.TestContext, read: () => Promise<unknown>): Promise<void> {
  const around = current;
  current = context;
  try {
    await read();
  } finally {
    current = around;
  }
}
