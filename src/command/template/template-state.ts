import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../foundation/database/sqlstate.ts';
import { TypesFailure } from '../../template-types/management-connection.ts';

/** What was last pulled from a service or pushed to it, by template. */
type SeenTemplates = Record<string, string>;

const stateFile = '.signalpost';

/**
 * Remembers, in a file of the folder, which content of each template its authors have seen. Content of the service that
 * is neither that nor the folder's was changed by someone else.
 */
export class TemplateState {
  readonly #path: string;
  readonly #place: string;
  readonly #places: Record<string, SeenTemplates>;

  private constructor(path: string, place: string, places: Record<string, SeenTemplates>) {
    this.#path = path;
    this.#place = place;
    this.#places = places;
  }

  /** @throws TypesFailure if the file is damaged */
  static async open(folder: string, place: string): Promise<TemplateState> {
    const path = join(folder, stateFile);
    try {
      const { services } = JSON.parse(await readFile(path, 'utf8')) as {
        readonly services: Record<string, SeenTemplates>;
      };
      if (typeof services === 'object' && services !== null)
        return new TemplateState(path, place, services);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return new TemplateState(path, place, {});
      if (!(error instanceof SyntaxError)) throw error;
    }
    throw new TypesFailure(`${path} is damaged. Restore it from git, or delete it and pull`);
  }

  /** The hash of the content that was seen last. */
  seen(id: string): string | undefined {
    const templates = this.#places[this.#place];
    return templates !== undefined && Object.hasOwn(templates, id) ? templates[id] : undefined;
  }

  /** Remembers a template at once, so that an interruption loses nothing. */
  async remember(id: string, hash: string): Promise<void> {
    if (this.seen(id) === hash) return;
    this.#places[this.#place] = { ...this.#places[this.#place], [id]: hash };
    const services = Object.fromEntries(
      Object.entries(this.#places)
        .sort(byName)
        .map(([place, templates]) => [
          place,
          Object.fromEntries(Object.entries(templates).sort(byName)),
        ]),
    );
    const draft = `${this.#path}.${process.pid}.tmp`;
    await writeFile(draft, `${JSON.stringify({ services }, null, 2)}\n`);
    await rename(draft, this.#path);
  }
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
