import type { Limiter } from '../../base/fairness/limiter.ts';
import type { AnswerProblem } from './answer-page.ts';
import type { CheckInboxAccess, InboxReaders } from './inbox-access.ts';
import type { InboxArrivals } from './inbox-arrivals.ts';
import type { InboxStore } from './inbox-store.ts';
import type { AssetUrls } from './read-assets.ts';

export interface InboxRoutesDependencies {
  readonly store: InboxStore;
  readonly arrivals: InboxArrivals;
  readonly readers: Pick<InboxReaders, 'admit'>;
  readonly streams: Pick<Limiter, 'tryAcquire'>;
  readonly checkAccess: CheckInboxAccess;
}

/** What the routes of the inbox share. */
export interface InboxContext extends InboxRoutesDependencies {
  readonly assets: AssetUrls;
  readonly answerProblem: AnswerProblem;
  /** Ends waiting requests when the service stops. */
  readonly stopping: AbortSignal;
}
