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
/** At most so often for each crowd, unless more than a few became due meanwhile and were put off message by message. */
const pauseMilliseconds = 1_000;
const fewMessages = 200;

/** When a crowd may be put off again, and how many of it were put off one by one since it was last. */
interface Pause {
  until: number;
  oneByOne: number;
}

/**
 * Puts the rest of a queue off where its first messages were: a hundred thousand messages for one receiver that is slow
 * would otherwise be claimed one by one, only to wait again, at the cost of everybody else's.
 */
export function createPutOffCrowd(store: CrowdStore, log: Log): PutOffCrowd {
  const pauses = new Map<string, Pause>();
  const run = async (pause: Pause, crowd: Crowd, times: CrowdTimes): Promise<void> => {
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
      pause.until = performance.now() + pauseMilliseconds;
      pause.oneByOne = 0;
    }
  };
  return (crowd, times) => {
    const key = `${crowd.accountId} ${crowd.domain} ${crowd.transactional}`;
    const known = pauses.get(key);
    if (known !== undefined && known.until > performance.now()) {
      known.oneByOne += 1;
      if (known.until === Number.POSITIVE_INFINITY || known.oneByOne < fewMessages) return;
    }
    if (pauses.size >= mostCrowds) pauses.clear();
    const pause = { until: Number.POSITIVE_INFINITY, oneByOne: 0 };
    pauses.set(key, pause);
    void run(pause, { ...crowd, ...times }, times);
  };
}
