import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { TemplateCompiler } from '../../src/content/template/template-compiler.ts';
import { previewInThread } from '../../src/operating/management/template/preview-threads.ts';

/** Nice values of this process's threads, the main thread's first. */
async function readNiceness(): Promise<number[]> {
  const tasks = await readdir('/proc/self/task');
  const texts = await Promise.all(
    // A thread can end meanwhile.
    tasks.map((task) => readFile(`/proc/self/task/${task}/stat`, 'utf8').catch(() => '')),
  );
  // After the name in parentheses, which may contain spaces.
  const running = texts.filter((text) => text !== '');
  return running.map((text) => Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[16]));
}

const onLinux = { skip: process.platform !== 'linux' && 'only Linux has priorities of threads' };

test(
  'ASVS 4.0.3 11.1.4: threads that compile and preview yield the processors to the event loop',
  onLinux,
  async () => {
    const content = { subject: 'Subject', text: 'Hello' };
    const job = {
      content,
      format: undefined,
      values: undefined,
      locale: undefined,
      subjectLine: undefined,
      previewText: undefined,
    };
    assert.ok((await previewInThread(job, '46100')).rendered !== null);
    assert.ok((await new TemplateCompiler().compile(content, '46100')).compiled !== null);
    const [main, ...threads] = await readNiceness();
    assert.ok(Number(main) < 19);
    assert.equal(threads.filter((nice) => nice === 19).length, 2, String(threads));
  },
);
