import { batchReads } from '../../base/database/batch-reads.ts';
import { Cache, SizeLimitedCache } from '../../base/database/cache.ts';
import type { ChangeListener } from '../../base/database/change-listener.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { AccountId, TemplateId } from '../../base/values/ids.ts';
import { andThen, type MaybePromise } from '../../base/values/maybe-promise.ts';
import type { CompiledTemplate } from './compiled-template.ts';
import { matchVariant } from './locale.ts';
import { secretNamesOf, withSecretNames } from './secret-names.ts';
import type { TemplateRef, TemplateVersionRef } from './template-source.ts';
import {
  type CompiledRow,
  type PublishedRow,
  readCompiled,
  readKeptSecrets,
  readPublished,
  templateKey,
  templateTopic,
} from './template-store.ts';
import { readCompiledVariants, type VariantRef, type VariantRow } from './variant-store.ts';

/** A template's published version, ready to render. */
export interface PublishedTemplate<Loaded> extends PublishedRow {
  readonly template: Loaded;
}

/** Max JSON characters of all cached versions, for a share of 1. */
const maxCachedCharacters = 64 * 1024 * 1024;
/** Max versions read and loaded per turn; a large one takes a few milliseconds. */
const maxVersionsPerRead = 16;

/** A version as used for sending; the directory reads its locales and secret names. */
interface LoadedVersion {
  readonly compiled: CompiledTemplate;
}

type ReadContent = Pick<CompiledRow, 'compiled' | 'size'>;

/**
 * Caches templates in the form used for sending. The published version and the secret fields are current within a second of
 * a change on any node; versions don't change otherwise.
 */
export class TemplateDirectory<Loaded extends LoadedVersion> {
  readonly #readCompiled: (name: TemplateVersionRef) => Promise<CompiledRow | undefined>;
  readonly #readVariant: (name: VariantRef) => Promise<VariantRow | undefined>;
  readonly #load: (compiled: CompiledTemplate) => Loaded;
  readonly #published: Cache<PublishedRow>;
  /** Results of `readKeptSecrets`. */
  readonly #secrets: Cache<string>;
  readonly #versions: SizeLimitedCache<Loaded>;
  readonly #loading = new Map<string, Promise<Loaded | undefined>>();

  /**
   * @param load converts a stored compiled version for sending
   * @param share of the memory, from `memoryShare`
   */
  constructor(
    database: Database,
    changes: ChangeListener,
    load: (compiled: CompiledTemplate) => Loaded,
    share = 1,
  ) {
    const { kysely } = database;
    this.#readCompiled = batchReads(
      (refs: readonly TemplateVersionRef[]) => readCompiled(kysely, refs),
      maxVersionsPerRead,
    );
    this.#readVariant = batchReads(
      (refs: readonly VariantRef[]) => readCompiledVariants(kysely, refs),
      maxVersionsPerRead,
    );
    this.#load = load;
    this.#versions = new SizeLimitedCache(maxCachedCharacters * share);
    const readOne = batchReads((refs: readonly TemplateRef[]) => readPublished(kysely, refs));
    this.#published = new Cache(changes, templateTopic, (key) => readOne(refOf(key)));
    const readSecrets = batchReads((refs: readonly TemplateRef[]) => readKeptSecrets(kysely, refs));
    this.#secrets = new Cache(changes, templateTopic, (key) => readSecrets(refOf(key)));
  }

  /** The published version of a template; undefined if the account has no such template in use. */
  published(
    accountId: AccountId,
    templateId: TemplateId,
  ): MaybePromise<PublishedTemplate<Loaded> | undefined> {
    const row = this.#published.get(templateKey(accountId, templateId));
    return andThen(row, (found) =>
      andThen(
        found && this.version(accountId, templateId, found.version),
        (template) => found && template && { ...found, template },
      ),
    );
  }

  /** A version, published or not, including those of removed templates; undefined if it doesn't exist. */
  version(
    accountId: AccountId,
    templateId: TemplateId,
    version: number,
    kept: MaybePromise<string | undefined> = this.#secrets.get(templateKey(accountId, templateId)),
  ): MaybePromise<Loaded | undefined> {
    const ref = { accountId, templateId, version };
    return andThen(kept, (names = '[]') =>
      this.#cached(`${keyOf(ref)}/${names}`, async () => {
        const row = await this.#readCompiled(ref);
        if (row === undefined) return undefined;
        const secretNames = [...row.secretNames, ...(JSON.parse(names) as string[])];
        return {
          compiled: withSecretNames(row.compiled, secretNames),
          size: row.size,
        };
      }),
    );
  }

  /**
   * The content of a version for a locale: the variant that matches it best (RFC 4647 section 3.4), or the default.
   * @param locale canonical; undefined: the default content
   */
  localized(
    accountId: AccountId,
    templateId: TemplateId,
    version: number,
    locale: string | undefined,
    kept?: string,
  ): MaybePromise<Loaded | undefined> {
    const found = this.version(accountId, templateId, version, kept);
    if (locale === undefined) return found;
    return andThen(
      found,
      (base) => base && this.variant({ accountId, templateId, version }, base, locale),
    );
  }

  /**
   * Like `localized`, for links in sent mail: they don't depend on the current secret fields, and work from memory while the
   * database is down.
   */
  sent(
    accountId: AccountId,
    templateId: TemplateId,
    version: number,
    locale: string | undefined,
  ): MaybePromise<Loaded | undefined> {
    const kept = this.#secrets.lastKnown(templateKey(accountId, templateId)) ?? '[]';
    return this.localized(accountId, templateId, version, locale, kept);
  }

  /** The content of a loaded version for a locale. @param base its default content */
  variant(
    ref: TemplateVersionRef,
    base: Loaded,
    requested: string,
  ): MaybePromise<Loaded | undefined> {
    const locale = matchVariant(base.compiled, requested);
    if (locale === undefined) return base;
    const secretNames = secretNamesOf(base.compiled);
    return this.#cached(`${keyOf(ref)}/${locale}/${JSON.stringify(secretNames)}`, async () => {
      const row = await this.#readVariant({ ...ref, locale });
      if (row === undefined) return undefined;
      const compiled = { ...base.compiled, ...row.compiled, locale };
      return {
        compiled: withSecretNames(compiled, secretNames),
        size: row.size,
      };
    });
  }

  #cached(
    key: string,
    read: () => Promise<ReadContent | undefined>,
  ): MaybePromise<Loaded | undefined> {
    const cached = this.#versions.get(key);
    if (cached !== undefined) return cached;
    const loading = this.#loading.get(key);
    if (loading !== undefined) return loading;
    const reading = this.#readAndLoad(key, read).finally(() => this.#loading.delete(key));
    this.#loading.set(key, reading);
    return reading;
  }

  async #readAndLoad(
    key: string,
    read: () => Promise<ReadContent | undefined>,
  ): Promise<Loaded | undefined> {
    const row = await read();
    if (row === undefined) return undefined;
    const loaded = this.#load(row.compiled);
    // Names of secret fields are in the key, the content and its set.
    this.#versions.set(key, loaded, row.size + 3 * key.length);
    return loaded;
  }
}

function keyOf({ accountId, templateId, version }: TemplateVersionRef): string {
  return `${accountId}/${templateId}/${version}`;
}

function refOf(key: string): TemplateRef {
  const slash = key.indexOf('/');
  return {
    accountId: key.slice(0, slash) as AccountId,
    templateId: key.slice(slash + 1) as TemplateId,
  };
}
