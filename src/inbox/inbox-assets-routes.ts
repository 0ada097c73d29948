import type { Http } from '../http/create-http.ts';
import type { Asset } from './read-assets.ts';

/** `GET /inbox/assets/…`: style and script of the pages, cached indefinitely. */
export function registerInboxAssetsRoutes(http: Http, assets: readonly Asset[]): void {
  for (const { url, type, content } of assets) {
    http.get(url, async (_request, reply) =>
      reply
        .headers({
          'cache-control': 'public, max-age=31536000, immutable',
          'x-content-type-options': 'nosniff',
          'content-security-policy': "default-src 'none'",
        })
        .type(type)
        .send(content),
    );
  }
}
