import { Cache } from '../foundation/cache.ts';
import type { ChangeListener } from '../foundation/change-listener.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { gatherReads } from '../foundation/gather-reads.ts';
import type { AccountId, TemplateId } from '../foundation/ids.ts';
import { SizedMemory } from '../foundation/sized-memory.ts';
import type { CompiledTemplate } from './compiled-template.ts';
import {
  type CompiledRow,
  type PublishedRow,
  readCompiled,
  readPublished,
  type TemplateName,
  templateKey,
  templateTopic,
  type VersionName,
} from './template-store.ts';

/** The version of a template that is sent now, ready to be filled in. */
export interface PublishedTemplate<Loaded> extends PublishedRow {
  readonly template: Loaded;
}

/** JSON characters of all versions kept in memory. */
const mostCharacters = 64 * 1024 * 1024;
/** Versions that are read and loaded in one turn: a large one takes some milliseconds. */
const mostVersionsAtOnce = 16;

/**
 * Templates from memory, loaded into the form that sending uses. What is published is correct within a second of a
 * change on any node; versions never change.
 */
export class TemplateDirectory<Loaded extends object> {
  readonly #readCompiled: (name: VersionName) => Promise<CompiledRow | undefined>;
  readonly #load: (compiled: CompiledTemplate) => Loaded;
  readonly #published: Cache<PublishedRow>;
  readonly #versions: SizedMemory<Loaded>;
  readonly #loading = new Map<string, Promise<Loaded | undefined>>();

  /** @param load turns a stored compiled version into the form that sending uses */
  constructor(
    database: Database,
    changes: ChangeListener,
    load: (compiled: CompiledTemplate) => Loaded,
  ) {
    const { kysely } = database;
    this.#readCompiled = gatherReads(
      (names: readonly VersionName[]) => readCompiled(kysely, names),
      mostVersionsAtOnce,
    );
    this.#load = load;
    this.#versions = new SizedMemory(mostCharacters);
    const readOne = gatherReads((names: readonly TemplateName[]) => readPublished(kysely, names));
    this.#published = new Cache(changes, templateTopic, (key) => {
      const slash = key.indexOf('/');
      return readOne({
        accountId: key.slice(0, slash) as AccountId,
        templateId: key.slice(slash + 1) as TemplateId,
      });
    });
  }

  /** The published version of a template; undefined where the account has no such template in use. */
  published(
    accountId: AccountId,
    templateId: TemplateId,
  ): Promise<PublishedTemplate<Loaded> | undefined> | PublishedTemplate<Loaded> | undefined {
    const row = this.#published.get(templateKey(accountId, templateId));
    const complete = (found: PublishedRow | undefined) =>
      found && this.#complete(accountId, templateId, found);
    return row instanceof Promise ? row.then(complete) : complete(row);
  }

  #complete(
    accountId: AccountId,
    templateId: TemplateId,
    row: PublishedRow,
  ): Promise<PublishedTemplate<Loaded> | undefined> | PublishedTemplate<Loaded> | undefined {
    const template = this.version(accountId, templateId, row.version);
    if (template instanceof Promise)
      return template.then((loaded) => loaded && { ...row, template: loaded });
    return template && { ...row, template };
  }

  /** One version, published or not, of a removed template too; undefined where there is none. */
  version(
    accountId: AccountId,
    templateId: TemplateId,
    version: number,
  ): Promise<Loaded | undefined> | Loaded | undefined {
    const key = `${accountId}/${templateId}/${version}`;
    const known = this.#versions.get(key);
    if (known !== undefined) return known;
    const loading = this.#loading.get(key);
    if (loading !== undefined) return loading;
    const reading = this.#readVersion(key, accountId, templateId, version).finally(() =>
      this.#loading.delete(key),
    );
    this.#loading.set(key, reading);
    return reading;
  }

  async #readVersion(
    key: string,
    accountId: AccountId,
    templateId: TemplateId,
    version: number,
  ): Promise<Loaded | undefined> {
    const row = await this.#readCompiled({ accountId, templateId, version });
    if (row === undefined) return undefined;
    const loaded = this.#load(row.compiled);
    this.#versions.set(key, loaded, row.size);
    return loaded;
  }
}
