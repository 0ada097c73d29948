import type { Http } from '../../http/create-http.ts';
import type { TrackingRouteDependencies } from './click-routes.ts';
import { readEngagement } from './read-engagement.ts';

/** A transparent 1×1 GIF. */
const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const imagePattern = /^([A-Za-z0-9_-]+)\.gif$/;

/**
 * `GET /o/{token}.gif`: the image that tracks opens; HEAD isn't counted. Invalid tokens get the image too, because a
 * broken one would be visible.
 */
export function registerOpenRoute(
  http: Http,
  dependencies: Omit<TrackingRouteDependencies, 'findVersion'>,
): void {
  http.get<{ Params: { image: string } }>('/o/:image', (request, reply) => {
    const token = imagePattern.exec(request.params.image)?.[1];
    const message = token === undefined ? undefined : dependencies.tokens.readOpen(token);
    if (message !== undefined && request.method === 'GET') {
      const engaged = { message, kind: 'opened' } as const;
      dependencies.record(readEngagement(request, dependencies.keepAddresses, engaged));
    }
    return reply
      .header('cache-control', 'no-store, no-cache, private')
      .header('cross-origin-resource-policy', 'cross-origin')
      .type('image/gif')
      .send(pixel);
  });
}
