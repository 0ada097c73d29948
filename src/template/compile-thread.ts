import { parentPort } from 'node:worker_threads';
import { type CompileResult, compileSource } from './compile-source.ts';
import type { TemplateSource } from './template-source.ts';

/** What the thread answers to each source: its result, or the fault of this program that kept it from one. */
export type ThreadAnswer = { readonly result: CompileResult } | { readonly fault: unknown };

async function answer(source: TemplateSource): Promise<ThreadAnswer> {
  try {
    return { result: await compileSource(source) };
  } catch (fault) {
    return { fault };
  }
}

parentPort?.on('message', async (source: TemplateSource) => {
  parentPort?.postMessage(await answer(source));
});
// Now it has loaded what every template needs.
parentPort?.postMessage('ready');
