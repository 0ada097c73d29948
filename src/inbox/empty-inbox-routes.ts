import type { Http } from '../http/create-http.ts';
import type { InboxArrivals } from './inbox-arrivals.ts';
import type { InboxStore } from './inbox-store.ts';
import { readDeleteQuery } from './message-parameters.ts';

export interface EmptyInboxDependencies {
  readonly store: Pick<InboxStore, 'remove'>;
  readonly arrivals: Pick<InboxArrivals, 'announceEmptied'>;
}

/**
 * `DELETE /inbox/api/messages?to=`: deletes all messages, or those to one envelope recipient; 204.
 * `POST /inbox/empty`: the button on the page; deletes all and redirects to the list (303).
 */
export function registerEmptyInboxRoutes(http: Http, dependencies: EmptyInboxDependencies): void {
  const { store, arrivals } = dependencies;
  http.delete('/api/messages', async (request, reply) => {
    await store.remove(readDeleteQuery(request.query as Readonly<Record<string, unknown>>));
    arrivals.announceEmptied();
    return reply.code(204).send();
  });
  http.post('/empty', async (_request, reply) => {
    await store.remove({ to: undefined, since: undefined });
    arrivals.announceEmptied();
    return reply.redirect('/inbox', 303);
  });
}
