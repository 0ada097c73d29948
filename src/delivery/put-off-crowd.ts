import type { Log } from '../foundation/log.ts';
import type { Crowd } from '../queue/put-off-store.ts';
import type { CrowdTimes } from './transport.ts';

/** What is needed of the database. */
export interface CrowdStore {
  putOff(crowd: Crowd): Promise<{ readonly all: boolean; readonly changed: number }>;
}

/** Tells that more messages like one that was put off need not be looked at before. */
export type PutOffCrowd = (
  crowd: Pick<Crowd, 'accountId' | 'domain' | 'transactional'>,
  times: CrowdTimes,
) => void;

/** Goes on in chunks while this part of a chunk was of the crowd. */
const worthwhile = 1_000;
const mostCrowds = 10_000;
/** At most so often for each crowd; what becomes due between is put off message by message. */
const pauseMilliseconds = 1_000;

/**
 * Puts the rest of a queue off where its first messages were: a hundred thousand messages for one receiver that is slow
 * would otherwise be claimed one by one, only to wait again, at the cost of everybody else's.
 */
export function createPutOffCrowd(store: CrowdStore, log: Log): PutOffCrowd {
  const until = new Map<string, number>();
  const run = async (key: string, crowd: Crowd, times: CrowdTimes): Promise<void> => {
    let { after } = times;
    try {
      for (;;) {
        const { all, changed } = await store.putOff({ ...crowd, ...times, after });
        times.taken(changed);
        after += changed * times.spacing;
        if (all || changed < worthwhile) break;
      }
    } catch (error) {
      log.debug({ err: error }, 'messages for a slow destination cannot be put off together');
    } finally {
      until.set(key, performance.now() + pauseMilliseconds);
    }
  };
  return (crowd, times) => {
    const key = `${crowd.accountId} ${crowd.domain} ${crowd.transactional}`;
    if ((until.get(key) ?? 0) > performance.now()) return;
    if (until.size >= mostCrowds) until.clear();
    until.set(key, Number.POSITIVE_INFINITY);
    void run(key, { ...crowd, ...times }, times);
  };
}
