import { type CompileResult, compileTemplate } from '../template/compile-template.ts';
import type { ManifestTemplate } from './manifest.ts';

/** Contents that a change needs compiled and that are not; they are compiled before it is tried again. */
export class NotCompiled extends Error {
  override name = 'NotCompiled';
  readonly templates: readonly ManifestTemplate[];

  constructor(templates: readonly ManifestTemplate[]) {
    super('templates changed while they were compiled');
    this.templates = templates;
  }
}

/** Contents of templates with what compiling made of each. */
export class CompiledContents {
  readonly #group: string | undefined;
  readonly #results = new Map<string, CompileResult>();

  /** @param group whose they are (see `compileTemplate`) */
  constructor(group?: string) {
    this.#group = group;
  }

  async compile(templates: readonly ManifestTemplate[]): Promise<void> {
    for (const template of templates)
      this.#results.set(keyOf(template), await compileTemplate(template.source, this.#group));
  }

  has(template: ManifestTemplate): boolean {
    return this.#results.has(keyOf(template));
  }

  /** @throws NotCompiled */
  get(template: ManifestTemplate): CompileResult {
    const result = this.#results.get(keyOf(template));
    if (result === undefined) throw new NotCompiled([template]);
    return result;
  }
}

function keyOf({ contentHash }: ManifestTemplate): string {
  return contentHash.toString('base64');
}

const maxAttempts = 5;

/**
 * Runs a change that needs templates compiled, without compiling inside it: it is broken off where one is not, and run again
 * once that one is. So no transaction and no lock lasts as long as compiling does, and what is changed is what was compiled.
 * @throws NotCompiled where the templates change again and again meanwhile
 */
export async function withCompiledContents<Result>(
  group: string | undefined,
  change: (contents: CompiledContents) => Promise<Result>,
): Promise<Result> {
  const contents = new CompiledContents(group);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await change(contents);
    } catch (error) {
      if (!(error instanceof NotCompiled) || attempt >= maxAttempts) throw error;
      await contents.compile(error.templates);
    }
  }
}
