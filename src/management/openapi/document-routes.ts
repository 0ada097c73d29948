import { fastify } from 'fastify';
import { brandHead } from '../../brand/brand-files.ts';
import { brandMark } from '../../brand/tokens.ts';
import type { Http } from '../../http/create-http.ts';
import { ZippedContent } from '../../http/zipped-content.ts';
import { type ProblemCode, problemCatalog } from '../answer/problem.ts';
import { openapiDocument } from './openapi-document.ts';
import { barStyles, viewerStyles } from './viewer-styles.ts';

/** Allows no external resources; the viewer injects its own style sheets. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signalpost API</title>
${brandHead}
<style>${barStyles}</style>
</head>
<body>
<header class="docs-bar"><a class="docs-brand" href="/docs">${brandMark}Signalpost <span>API</span></a><a href="/openapi.json">OpenAPI</a><a href="/console">Console</a></header>
<div id="reference"></div>
<script src="/docs/viewer.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** Adds a copy button to each code block of the introduction, whenever the viewer renders it. */
const copyButtons = `
new MutationObserver(() => {
  for (const block of document.querySelectorAll('.introduction-description pre:not(:has(.copy-code))')) {
    const button = document.createElement('button');
    const code = block.textContent;
    button.type = 'button';
    button.className = 'copy-code';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code);
      button.textContent = 'Copied';
    });
    block.append(button);
  }
}).observe(document.getElementById('reference'), { childList: true, subtree: true });
`;

/** Disables everything that loads from or links to other hosts. */
const start = `Scalar.createApiReference('#reference', ${JSON.stringify({
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  authentication: { preferredSecurityScheme: 'accessToken' },
  // The bar above links to the document.
  documentDownloadType: 'none',
  showDeveloperTools: 'never',
  proxyUrl: '',
  theme: 'none',
  customCss: viewerStyles,
})});
${copyButtons}`;

/**
 * `GET /openapi.json`: contract and management API as OpenAPI 3.1. `GET /docs`: the same as a web page, self-hosted.
 * `GET /problems/NAME`: describes a problem `type`.
 */
export function registerDocumentRoutes(http: Http, version: string): void {
  const document = new ZippedContent(async () =>
    Buffer.from(JSON.stringify(openapiDocument(version))),
  );
  const script = new ZippedContent(loadViewerScript);
  http.get('/openapi.json', async (request, reply) =>
    document.send(request, reply.type('application/json; charset=utf-8')),
  );
  http.get('/docs', async (_request, reply) =>
    reply
      .headers({
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
      .type('text/html; charset=utf-8')
      .send(page),
  );
  http.get('/docs/start.js', async (_request, reply) =>
    reply
      .type('text/javascript; charset=utf-8')
      .header('x-content-type-options', 'nosniff')
      .send(start),
  );
  http.get('/docs/viewer.js', async (request, reply) => {
    reply
      .type('text/javascript; charset=utf-8')
      .headers({ 'cache-control': 'public, max-age=3600', 'x-content-type-options': 'nosniff' });
    return script.send(request, reply);
  });
  http.get<{ Params: { name: string } }>('/problems/:name', async (request, reply) => {
    const { name } = request.params;
    if (!Object.hasOwn(problemCatalog, name)) return reply.callNotFound();
    return { type: `/problems/${name}`, ...problemCatalog[name as ProblemCode] };
  });
}

/**
 * The viewer's script, which its package only exposes through a server. Loaded on first use, because it is several
 * megabytes.
 */
async function loadViewerScript(): Promise<Buffer> {
  const { default: viewer } = await import('@scalar/fastify-api-reference');
  const server = fastify();
  await server.register(viewer, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
  const response = await server.inject('/docs/js/scalar.js');
  await server.close();
  return response.rawPayload;
}
