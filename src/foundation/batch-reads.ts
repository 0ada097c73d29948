import { GroupCommit } from './group-commit.ts';

/** Reads the rows with these keys in one statement; the answers stand in the order of the keys. */
export type ReadBatch<Key, Row> = (keys: readonly Key[]) => Promise<readonly (Row | undefined)[]>;

const defaultMaxKeys = 500;
const maxConcurrentStatements = 2;

/**
 * Makes one statement of the reads that come together. A process that has just started, or whose memory was emptied, is
 * asked for everything that it does not know at the same time: each entry by a statement of its own would take the processor
 * of everything else for seconds.
 * @param maxKeys keys of one statement: what it answers is in memory at once
 */
export function batchReads<Key, Row>(
  readBatch: ReadBatch<Key, Row>,
  maxKeys = defaultMaxKeys,
): (key: Key) => Promise<Row | undefined> {
  const reads = new GroupCommit<Key, Row | undefined>(readBatch, {
    max: maxKeys,
    concurrency: maxConcurrentStatements,
    // Who asks has been let in already: there are no more than requests.
    waiting: Number.POSITIVE_INFINITY,
  });
  return async (key) => reads.add(key);
}
