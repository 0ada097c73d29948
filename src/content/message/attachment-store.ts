import { sql } from 'kysely';
import pg from 'pg';
import { bytesArray, LargeValueClient, textArray } from '../../base/database/binary-array.ts';
import { GroupCommit } from '../../base/database/group-commit.ts';
import {
  clientSettings,
  type DatabaseSettings,
  ignoreIdleErrors,
  type Kysely,
} from '../../base/database/open-database.ts';
import { isForeignKeyViolation } from '../../base/database/sqlstate.ts';
import { allRows } from '../../base/database/statements.ts';
import { Limiter } from '../../base/fairness/limiter.ts';
import { policies } from '../../base/fairness/policies.ts';
import type { AccountId } from '../../base/values/ids.ts';

/** A content and its SHA-256, in hex. */
export interface AttachmentContent {
  readonly sha256: string;
  readonly content: Buffer;
}

interface SmallContent extends AttachmentContent {
  readonly accountId: AccountId;
}

/** Contents move through few connections, so that a burst neither fills memory nor holds up other statements. */
const connections = 4;
/** Contents up to this size share a statement, which costs more than their bytes. */
const maxSmallBytes = 32 * 1_024;
const smallBatch = { max: 64, concurrency: 2, linger: { quietTurns: 5, maxMs: 5 } };
const connectTimeoutMs = 5_000;
const statementTimeoutMs = 30_000;
/**
 * Tells the kernel to write contents as they come. Otherwise a checkpoint would write hundreds of megabytes at once, and every
 * commit's flush of the log would wait for them.
 */
const flushAfter = '256kB';

/**
 * A content that the sweep won't look at for this long can be used by a message; otherwise its check is postponed. Both are
 * far longer than an accept takes.
 */
const minReserve = "interval '30 minutes'";
const reserve = "interval '1 hour'";

/** Bytes read at once: the driver receives them as hex, which it decodes on the main thread. */
const sliceBytes = 512 * 1_024;

/** Stores contents in a transaction that also stores what uses them; their account may be new in it. */
export async function storeContents(
  transaction: Kysely,
  accountId: AccountId,
  contents: readonly AttachmentContent[],
): Promise<void> {
  for (const { sha256, content } of contents)
    await allRows(transaction)`
      insert into attachment_content (account_id, sha256, content, check_at)
      values (${accountId}, decode(${sha256}, 'hex'), ${content}, now() + ${sql.raw(reserve)})
      on conflict (account_id, sha256) do update set check_at = excluded.check_at`;
}

/**
 * Contents of attachments, stored once per account under their hash. Their commits aren't flushed: what uses a content commits
 * later, so its flush includes them.
 */
export class AttachmentStore {
  readonly #pool: pg.Pool;
  readonly #writes = new Limiter(policies.attachmentWrites);
  readonly #smallWrites = new Limiter(policies.smallAttachmentWrites);
  readonly #small = new GroupCommit<SmallContent, unknown>((items) => this.#storeSmall(items), {
    ...smallBatch,
    waiting: Number.POSITIVE_INFINITY,
  });

  constructor(settings: DatabaseSettings) {
    const base = clientSettings(settings, 'signalpost attachments');
    this.#pool = new pg.Pool({
      ...base,
      Client: LargeValueClient,
      options: `${base.options ?? ''} -c synchronous_commit=off -c backend_flush_after=${flushAfter} -c statement_timeout=${statementTimeoutMs}`,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: statementTimeoutMs + 5_000,
      idleTimeoutMillis: 60_000,
      max: connections,
    });
    ignoreIdleErrors(this.#pool);
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  /**
   * Stores contents, and keeps them from being swept for at least half an hour, in which a message must use them. Large ones that
   * the account has already aren't sent to the database.
   */
  async save(accountId: AccountId, contents: readonly AttachmentContent[]): Promise<void> {
    const small = contents.filter(({ content }) => content.length <= maxSmallBytes);
    const large = contents.filter(({ content }) => content.length > maxSmallBytes);
    const hashes = large.map(({ sha256 }) => sha256);
    const known = large.length === 0 ? undefined : await this.#reserve(accountId, hashes);
    await Promise.all(small.map((content) => this.#saveSmall(accountId, content)));
    for (const { sha256, content } of large) {
      if (known?.has(sha256) === true) continue;
      await this.#writes.run(accountId, () => this.#store(accountId, sha256, content));
    }
  }

  async #saveSmall(accountId: AccountId, content: AttachmentContent): Promise<void> {
    const error = await this.#smallWrites.run(accountId, async () =>
      this.#small.add({ accountId, ...content }),
    );
    if (error !== undefined) throw error;
  }

  /** Stores contents of several accounts in one statement. @returns the error of each that wasn't stored */
  async #storeSmall(items: readonly SmallContent[]): Promise<readonly unknown[]> {
    // A statement can't store a row twice.
    const rows = [
      ...new Map(items.map((item) => [`${item.accountId} ${item.sha256}`, item])).values(),
    ];
    try {
      await this.#pool.query({
        name: 'store-attachments',
        text: `insert into attachment_content (account_id, sha256, content, check_at)
          select account_id, sha256, content, now() + ${reserve}
          from unnest($1::text[], $2::bytea[], $3::bytea[]) as row (account_id, sha256, content)
          order by account_id, sha256
          on conflict (account_id, sha256) do update set check_at = excluded.check_at
          where attachment_content.check_at <= now() + ${minReserve}`,
        values: [
          textArray(rows.map((row) => row.accountId)),
          bytesArray(rows.map(({ sha256 }) => Buffer.from(sha256, 'hex').toString('latin1'))),
          bytesArray(rows.map(({ content }) => content.toString('latin1'))),
        ],
      });
      return items.map(() => undefined);
    } catch (error) {
      if (items.length === 1 || !isForeignKeyViolation(error)) return items.map(() => error);
      // One account that was just deleted must not fail the others.
      return Promise.all(items.map(async (item) => (await this.#storeSmall([item]))[0]));
    }
  }

  async #store(accountId: AccountId, sha256: string, content: Buffer): Promise<void> {
    await this.#pool.query({
      name: 'store-attachment',
      text: `insert into attachment_content (account_id, sha256, content, check_at)
        values ($1, $2, $3, now() + ${reserve})
        on conflict (account_id, sha256) do update set check_at = excluded.check_at`,
      values: [accountId, Buffer.from(sha256, 'hex'), content],
    });
  }

  /**
   * Keeps stored contents from being swept, for another message that uses them.
   * @param hashes one byte per character
   * @returns false if the account doesn't have all of them
   */
  async keep(accountId: AccountId, hashes: readonly string[]): Promise<boolean> {
    const kept = await this.#reserve(
      accountId,
      hashes.map((sha256) => Buffer.from(sha256, 'latin1').toString('hex')),
    );
    return kept.size === hashes.length;
  }

  /** @returns those that are stored and safe from the sweep */
  async #reserve(accountId: AccountId, hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.#pool.query<{ sha256: string }>({
      name: 'reserve-attachments',
      text: `with known as materialized (
          select sha256, check_at > now() + ${minReserve} as safe from attachment_content
          where account_id = $1 and sha256 = any ($2::bytea[])),
        postponed as (
          update attachment_content set check_at = now() + ${reserve}
          where account_id = $1 and sha256 in (select sha256 from known where not safe)
          returning sha256)
        select encode(sha256, 'hex') as sha256 from known where safe
        union all select encode(sha256, 'hex') from postponed`,
      values: [accountId, hashes.map((sha256) => Buffer.from(sha256, 'hex'))],
    });
    return new Set(rows.map(({ sha256 }) => sha256));
  }

  /**
   * Reads a content in slices; the column's storage makes each of them cheap.
   * @returns undefined if the account has no such content
   */
  async read(accountId: AccountId, sha256: string): Promise<Buffer | undefined> {
    let content: Buffer | undefined;
    for (let at = 0; content === undefined || at < content.length; at += sliceBytes) {
      const row = await this.#readSlice(accountId, sha256, at);
      if (row === undefined) return undefined;
      content ??= Buffer.allocUnsafeSlow(row.size);
      row.slice.copy(content, at);
    }
    return content;
  }

  /**
   * Reads a content without having all of it in memory.
   * @returns undefined if the account has no such content
   */
  async open(accountId: AccountId, sha256: string): Promise<AsyncIterable<Buffer> | undefined> {
    const first = await this.#readSlice(accountId, sha256, 0);
    if (first === undefined) return undefined;
    const { size, slice } = first;
    const readSlice = (at: number) => this.#readSlice(accountId, sha256, at);
    return (async function* slices() {
      yield slice;
      for (let at = sliceBytes; at < size; at += sliceBytes) {
        const next = await readSlice(at);
        if (next === undefined) throw new Error('an attachment was deleted while it was read');
        yield next.slice;
      }
    })();
  }

  async #readSlice(accountId: AccountId, sha256: string, at: number): Promise<Slice | undefined> {
    const { rows } = await this.#pool.query<Slice>({
      name: 'read-attachment',
      text: `select octet_length(content) as size, substring(content from $3::int for $4::int) as slice
        from attachment_content where account_id = $1 and sha256 = $2`,
      values: [accountId, Buffer.from(sha256, 'hex'), at + 1, sliceBytes],
    });
    return rows[0];
  }
}

interface Slice {
  /** Bytes of the whole content. */
  readonly size: number;
  readonly slice: Buffer;
}
