import type { Database } from '../../base/database/open-database.ts';
import type { Log } from '../../base/values/log.ts';
import { type Backlog, deferDueMessages } from '../queue/defer-backlog-store.ts';
import type { BacklogSchedule } from './transport.ts';

/** Defers the rest of a backlog once one of its messages was deferred. */
export type DeferBacklog = (
  backlog: Pick<Backlog, 'accountId' | 'domain' | 'transactional'>,
  schedule: BacklogSchedule,
) => void;

/** Continue with the next chunk if at least this many rows changed. */
const minChunkChanged = 1_000;
const maxBacklogs = 10_000;
/** Min interval per backlog. */
const pauseMs = 1_000;
/** After this many messages were deferred individually, the backlog doesn't wait for the interval. */
const maxIndividual = 200;

interface Pause {
  until: number;
  /** Messages of the backlog deferred individually since the pause began. */
  individual: number;
}

/**
 * Defers the rest of a queue along with its first messages. Otherwise 100,000 messages for one slow destination would
 * be claimed one by one only to be deferred again, slowing down other mail.
 */
export function createDeferBacklog(database: Database, log: Log): DeferBacklog {
  const pauses = new Map<string, Pause>();
  const run = async (pause: Pause, backlog: Backlog, schedule: BacklogSchedule): Promise<void> => {
    let { after } = schedule;
    try {
      for (;;) {
        const { all, changed } = await deferDueMessages(database, {
          ...backlog,
          ...schedule,
          after,
        });
        schedule.consume(changed);
        after += changed * schedule.spacing;
        if (all || changed < minChunkChanged) break;
      }
    } catch (error) {
      log.debug({ err: error }, 'could not defer the backlog of a slow destination');
    } finally {
      pause.until = performance.now() + pauseMs;
      pause.individual = 0;
    }
  };
  return (backlog, schedule) => {
    const key = `${backlog.accountId} ${backlog.domain} ${backlog.transactional}`;
    const previous = pauses.get(key);
    if (previous !== undefined && previous.until > performance.now()) {
      previous.individual += 1;
      if (previous.until === Number.POSITIVE_INFINITY || previous.individual < maxIndividual)
        return;
    }
    if (pauses.size >= maxBacklogs) pauses.clear();
    const pause = { until: Number.POSITIVE_INFINITY, individual: 0 };
    pauses.set(key, pause);
    void run(pause, { ...backlog, ...schedule }, schedule);
  };
}
