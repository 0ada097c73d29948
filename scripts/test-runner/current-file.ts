import * as runner from 'node:test';

/** What test files get as `node:test`: tests and hooks belong to the file, or the group of tests, that is being read. */
export { mock } from 'node:test';

/** Undefined: the file has a process of its own. */
let current: runner.TestContext | undefined;

/** Reads a file of tests that shares its process with others, one after another. */
export function readFile(path: string, url: string): void {
  void runner.test(path, (context) => within(context, () => import(url)));
}

type Test = (name: string, options: runner.TestOptions, run: runner.TestFn) => Promise<void>;

export const test: Test = (...args) =>
  current === undefined ? runner.test(...args) : current.test(...args);

export function describe(name: string, read: () => void): void {
  void test(name, {}, (context) => within(context as runner.TestContext, async () => read()));
}

type Hook = (...args: Parameters<typeof runner.after>) => void;

export const before: Hook = (...args) => (current ?? runner).before(...args);
export const after: Hook = (...args) => (current ?? runner).after(...args);
export const beforeEach: Hook = (...args) => (current ?? runner).beforeEach(...args);
export const afterEach: Hook = (...args) => (current ?? runner).afterEach(...args);

async function within(context: runner.TestContext, read: () => Promise<unknown>): Promise<void> {
  const around = current;
  current = context;
  try {
    await read();
  } finally {
    current = around;
  }
}
