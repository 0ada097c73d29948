import type { Limiter } from '../foundation/limiter.ts';
import type { Http } from '../http/create-http.ts';
import { answerInboxErrors, answerUnknownPages } from './answer-inbox-errors.ts';
import { createAnswerProblem } from './answer-problem.ts';
import { registerEmptyInboxRoutes } from './empty-inbox-routes.ts';
import { registerEnterInboxRoutes } from './enter-inbox-routes.ts';
import { registerFindMessagesRoutes } from './find-messages-routes.ts';
import { type CheckInboxAccess, guardInbox } from './guard-inbox.ts';
import type { InboxArrivals } from './inbox-arrivals.ts';
import { registerInboxAssetsRoutes } from './inbox-assets-routes.ts';
import type { InboxBrowsers } from './inbox-browsers.ts';
import { registerInboxPageRoutes } from './inbox-page-routes.ts';
import type { InboxStore } from './inbox-store.ts';
import { registerLiveUpdatesRoutes } from './live-updates-routes.ts';
import { registerMessageContentRoutes } from './message-content-routes.ts';
import { registerMessagePageRoutes } from './message-page-routes.ts';
import { readAssets } from './read-assets.ts';

export interface InboxRoutesDependencies {
  readonly store: InboxStore;
  readonly arrivals: InboxArrivals;
  readonly browsers: Pick<InboxBrowsers, 'admit'>;
  readonly streams: Pick<Limiter, 'tryAcquire'>;
  readonly checkAccess: CheckInboxAccess;
}

/** Everything below `/inbox`. Only the entry link, style and script are available without access. */
export function registerInboxRoutes(http: Http, dependencies: InboxRoutesDependencies): void {
  const { store, arrivals, browsers, streams, checkAccess } = dependencies;
  const stopping = new AbortController();
  http.addHook('preClose', async () => stopping.abort());
  http.register(async (scope) => {
    const assets = await readAssets();
    registerInboxAssetsRoutes(scope, Object.values(assets));
    const urls = { style: assets.style.url, script: assets.script.url };
    const answerProblem = createAnswerProblem(urls);
    scope.register(
      async (entrance) => {
        answerInboxErrors(entrance, answerProblem);
        registerEnterInboxRoutes(entrance, browsers, checkAccess, answerProblem);
        entrance.register(async (inbox) => {
          guardInbox(inbox, checkAccess, answerProblem);
          answerUnknownPages(inbox, answerProblem);
          ignoreBodies(inbox);
          registerInboxPageRoutes(inbox, { store, assets: urls });
          registerMessagePageRoutes(inbox, { store, assets: urls }, answerProblem);
          registerMessageContentRoutes(inbox, store, answerProblem);
          registerLiveUpdatesRoutes(inbox, {
            arrivals,
            streams,
            stopping: stopping.signal,
            answerProblem,
          });
          registerFindMessagesRoutes(inbox, {
            ...dependencies,
            stopping: stopping.signal,
            answerProblem,
          });
          registerEmptyInboxRoutes(inbox, dependencies);
        });
      },
      { prefix: '/inbox' },
    );
  });
}

/** No request here needs a body; a form sends an empty one. */
function ignoreBodies(inbox: Http): void {
  inbox.removeAllContentTypeParsers();
  inbox.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) => done(null));
}
