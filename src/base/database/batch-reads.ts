import { GroupCommit } from './group-commit.ts';

/** Reads the rows with these keys in one statement; results are in the order of the keys. */
export type ReadBatch<Key, Row> = (keys: readonly Key[]) => Promise<readonly (Row | undefined)[]>;

const defaultMaxKeys = 500;
const maxConcurrentStatements = 2;

/**
 * Batches concurrent reads into one statement. With a cold cache, a statement per entry would saturate the processor for
 * seconds.
 * @param maxKeys max keys per statement, since the whole result is held in memory
 */
export function batchReads<Key, Row>(
  readBatch: ReadBatch<Key, Row>,
  maxKeys = defaultMaxKeys,
): (key: Key) => Promise<Row | undefined> {
  const reads = new GroupCommit<Key, Row | undefined>(readBatch, {
    max: maxKeys,
    concurrency: maxConcurrentStatements,
    // Unbounded here, because callers are already limited by the number of requests.
    waiting: Number.POSITIVE_INFINITY,
  });
  return async (key) => reads.add(key);
}
