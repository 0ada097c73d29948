import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';

const root = join(import.meta.dirname, '../..');
const threads = (await Array.fromAsync(glob('src/**/*-thread.ts', { cwd: root })))
  .filter((file) => !file.endsWith('serve-thread.ts'))
  .sort();

/** Says what the thread that loads it can do, when it is asked or ends. */
const probe = `data:text/javascript,${encodeURIComponent(`
  import { parentPort } from 'node:worker_threads';
  const describe = () => parentPort.postMessage(JSON.stringify({
    isExtensible: [Object, Array, Function].map(({ prototype }) => Object.isExtensible(prototype)),
    hasProto: '__proto__' in {},
  }));
  process.on('exit', describe);
  parentPort.on('message', (message) => message === 'describe' && describe()).unref();
`)}`;

const locked = { isExtensible: [false, false, false], hasProto: false };

test('ASVS 4.0.3 5.1.2: this process, which tests the service from end to end, has locked intrinsics', () => {
  assert.throws(() => Object.assign(Object.prototype, { charset: 'bogus' }), TypeError);
  assert.throws(() => Object.assign(Array.prototype, { charset: 'bogus' }), TypeError);
  assert.throws(() => Object.assign(Function.prototype, { charset: 'bogus' }), TypeError);
  const params: Record<string, Record<string, string>> = {};
  for (const name of ['__proto__']) assert.equal(params[name], undefined);
  // Objects still have members of their own with the names of inherited ones.
  const own: Record<string, unknown> = {};
  for (const name of ['toString', 'constructor']) own[name] = name;
  assert.deepEqual(Object.keys(own), ['toString', 'constructor']);
});

for (const file of threads)
  test(`ASVS 4.0.3 5.1.2: so has the thread ${file}`, async () => {
    const worker = new Worker(pathToFileURL(join(root, file)), {
      execArgv: ['--import', probe],
      // The backup thread ends at once without a job.
      workerData: { logLevel: 'silent' },
      stderr: true,
    });
    const said = new Promise<string>((resolve) => {
      worker.on('message', (message: string) => {
        if (message === 'ready') worker.postMessage('describe');
        else if (message.startsWith?.('{')) resolve(message);
      });
      worker.on('error', () => undefined);
    });
    assert.deepEqual(JSON.parse(await said), locked);
    await worker.terminate();
  });

test('nothing is imported before intrinsics are locked', async () => {
  assert.equal(threads.length, 5);
  for (const file of ['src/main.ts', ...threads]) {
    const text = await readFile(join(root, file), 'utf8');
    assert.match(text, /^import '[^']+\/lock-intrinsics\.ts';\n/, file);
  }
});
