import type { Log } from '../foundation/log.ts';
import type { Backlog } from '../queue/defer-backlog-store.ts';
import type { BacklogSchedule } from './transport.ts';

/** What is needed of the database. */
export interface BacklogDeferral {
  defer(backlog: Backlog): Promise<{ readonly all: boolean; readonly changed: number }>;
}

/** Tells that more messages like one that was put off need not be looked at before. */
export type DeferBacklog = (
  backlog: Pick<Backlog, 'accountId' | 'domain' | 'transactional'>,
  schedule: BacklogSchedule,
) => void;

/** Goes on in chunks while this part of a chunk was of the crowd. */
const minChunkChanged = 1_000;
const maxBacklogs = 10_000;
/** At most so often for each crowd, unless more than a few became due meanwhile and were put off message by message. */
const pauseMs = 1_000;
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
export function createDeferBacklog(store: BacklogDeferral, log: Log): DeferBacklog {
  const pauses = new Map<string, Pause>();
  const run = async (pause: Pause, backlog: Backlog, schedule: BacklogSchedule): Promise<void> => {
    let { after } = schedule;
    try {
      for (;;) {
        const { all, changed } = await store.defer({ ...backlog, ...schedule, after });
        schedule.consume(changed);
        after += changed * schedule.spacing;
        if (all || changed < minChunkChanged) break;
      }
    } catch (error) {
      log.debug({ err: error }, 'messages for a slow destination cannot be put off together');
    } finally {
      pause.until = performance.now() + pauseMs;
      pause.oneByOne = 0;
    }
  };
  return (backlog, schedule) => {
    const key = `${backlog.accountId} ${backlog.domain} ${backlog.transactional}`;
    const previous = pauses.get(key);
    if (previous !== undefined && previous.until > performance.now()) {
      previous.oneByOne += 1;
      if (previous.until === Number.POSITIVE_INFINITY || previous.oneByOne < fewMessages) return;
    }
    if (pauses.size >= maxBacklogs) pauses.clear();
    const pause = { until: Number.POSITIVE_INFINITY, oneByOne: 0 };
    pauses.set(key, pause);
    void run(pause, { ...backlog, ...schedule }, schedule);
  };
}
