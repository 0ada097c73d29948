import { fastify } from 'fastify';

/**
 * The viewer's script, which its package only exposes through a server. Loaded on first use, because it is several
 * megabytes.
 */
export async function loadViewerScript(): Promise<Buffer> {
  const { default: viewer } = await import('@scalar/fastify-api-reference');
  const server = fastify();
  await server.register(viewer, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
  const response = await server.inject('/docs/js/scalar.js');
  await server.close();
  return response.rawPayload;
}
