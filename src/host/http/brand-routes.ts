import { brandFiles, brandPrefix } from '../brand/brand-files.ts';
import type { Http } from './create-http.ts';

/**
 * `GET /brand/:file`: the font, style sheet and icon that all pages share. Their URLs change with their content, so they are
 * cached for a year. 404 for any other name.
 */
export function registerBrandRoutes(http: Http): void {
  const files = new Map(brandFiles.map((file) => [file.url.slice(brandPrefix.length), file]));
  http.get<{ Params: { file: string } }>(`${brandPrefix}:file`, async (request, reply) => {
    const file = files.get(request.params.file);
    if (file === undefined) return reply.callNotFound();
    return reply
      .headers({
        'cache-control': 'public, max-age=31536000, immutable',
        'content-security-policy': "default-src 'none'",
        'x-content-type-options': 'nosniff',
        // Fonts are fetched with CORS, also by documents with an opaque origin.
        'access-control-allow-origin': '*',
      })
      .type(file.type)
      .send(file.content);
  });
}
