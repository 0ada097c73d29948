import { existsSync, globSync } from 'node:fs';
import { join, sep } from 'node:path';
import fastifyStatic from '@fastify/static';
import { fastify } from 'fastify';
import { brandHead } from '../../../host/brand/brand-files.ts';
import {
  brandColors,
  brandFont,
  brandMark,
  brandRadii,
  monospaceFont,
} from '../../../host/brand/tokens.ts';
import type { Http } from '../../../host/http/create-http.ts';
import { ZippedContent } from '../../../host/http/zipped-content.ts';
import { type ProblemCode, problemCatalog } from '../answer/problem.ts';
import { openapiDocument } from './openapi-document.ts';

/** The look of the viewer: the shared font and colors, and no link to its vendor. */
const viewerStyles = `
:root {
  --scalar-font: ${brandFont};
  --scalar-font-code: ${monospaceFont};
  --scalar-font-bold: 600;
  --scalar-radius: ${brandRadii.control}px;
  --scalar-radius-lg: ${brandRadii.card}px;
  --scalar-custom-header-height: 52px;
}
.light-mode {${schemeOf(0)}
  --scalar-color-blue: #0b5cad;
  --scalar-color-orange: #8f4700;
}
.dark-mode {${schemeOf(1)}
}
a[href*="//www.scalar.com"], a[href*="//scalar.com"], .scalar-reference-intro-clients { display: none }
#reference .section { padding-block: 40px }
#reference .introduction-description { margin-top: 0 }
#reference .introduction-description pre { position: relative }
#reference .introduction-description pre code { padding-top: 36px; font-size: 12.5px }
.copy-code {
  position: absolute; top: 8px; right: 8px; padding: 2px 10px; font: 500 12px var(--scalar-font); cursor: pointer;
  color: var(--scalar-color-1); background: var(--scalar-background-1); border: 1px solid var(--scalar-border-color);
  border-radius: var(--scalar-radius);
}
.copy-code:hover { background: var(--scalar-background-3) }
`;

/** The bar above the viewer. */
const barStyles = `body { margin: 0; background: var(--brand-surface); color: var(--brand-ink); font-family: var(--brand-font) }
.docs-bar {
  position: sticky; top: 0; z-index: 20; box-sizing: border-box; display: flex; align-items: center; gap: 24px; height: 52px;
  padding: 0 20px; font-size: 14px; background: var(--brand-canvas); border-bottom: 1px solid var(--brand-line);
}
.docs-bar a { color: var(--brand-soft); font-weight: 500; text-decoration: none; white-space: nowrap }
.docs-bar a:hover { color: var(--brand-ink) }
.docs-bar .docs-brand { display: flex; align-items: center; gap: 10px; margin-right: auto; font-size: 16px; font-weight: 600; letter-spacing: -.01em; color: var(--brand-ink) }
.docs-brand span { color: var(--brand-soft); font-weight: 400 }
.docs-brand svg { width: 24px; height: 24px }
`;

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
<header class="docs-bar"><a class="docs-brand" href="/docs">${brandMark}Signalpost <span>API</span></a><a href="/docs/guide">Guide</a><a href="/openapi.json">OpenAPI</a><a href="/console">Console</a></header>
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

/** The manual as `npm run docs:site` builds it, and as it is in the package. */
const guideFolder = join(import.meta.dirname, '../../../../docs-site/dist');

/** Allows content from this origin only. The site's script makes styles, and the colors of code are attributes. */
const guidePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `GET /docs/guide` and below: the documentation of this version with a search. 404 if it isn't built. */
export function registerGuideRoutes(http: Http, folder: string = guideFolder): void {
  if (!existsSync(folder)) {
    for (const url of ['/docs/guide', '/docs/guide/*'])
      http.get(url, async (_request, reply) =>
        reply
          .code(404)
          .type('text/plain; charset=utf-8')
          .send('The documentation isn’t built: run npm run docs:site, and restart the service.\n'),
      );
    return;
  }
  const files = new Set(
    globSync('**/*.*', { cwd: folder }).map((path) => path.replaceAll(sep, '/')),
  );
  http.register(async (scope) => {
    await scope.register(fastifyStatic, {
      root: folder,
      serve: false,
      setHeaders: (reply) => {
        reply.headers({
          'content-security-policy': guidePolicy,
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
        });
      },
    });
    scope.get('/docs/guide', (_request, reply) => reply.sendFile('index.html'));
    scope.get<{ Params: { '*': string } }>('/docs/guide/*', (request, reply) => {
      const path = request.params['*'] || 'index';
      // A page can have the name of a folder.
      const file = [`${path}.html`, path].find((name) => files.has(name));
      return file === undefined ? reply.callNotFound() : reply.sendFile(file);
    });
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

/** The viewer switches its scheme by class, so the tokens are set for each. */
function schemeOf(index: 0 | 1): string {
  const color = (name: keyof typeof brandColors): string => brandColors[name][index];
  return `
  --scalar-background-1: ${color('surface')};
  --scalar-background-2: ${color('canvas')};
  --scalar-background-3: ${color('hover')};
  --scalar-background-accent: ${color('accentSoft')};
  --scalar-border-color: ${color('line')};
  --scalar-color-1: ${color('ink')};
  --scalar-color-2: ${color('soft')};
  --scalar-color-3: ${color('soft')};
  --scalar-color-accent: ${color('accent')};
  --scalar-button-1: ${color('button')};
  --scalar-button-1-hover: ${color('buttonHover')};
  --scalar-button-1-color: ${color('onButton')};
  --scalar-sidebar-background-1: ${color('canvas')};
  --scalar-sidebar-color-1: ${color('ink')};
  --scalar-sidebar-color-2: ${color('soft')};
  --scalar-sidebar-border-color: ${color('line')};
  --scalar-sidebar-item-hover-background: ${color('hover')};
  --scalar-sidebar-item-active-background: ${color('accentSoft')};
  --scalar-sidebar-color-active: ${color('accent')};
  --scalar-sidebar-search-background: ${color('surface')};
  --scalar-sidebar-search-color: ${color('soft')};
  --scalar-sidebar-search-border-color: ${color('line')};
  --scalar-color-green: ${color('good')};
  --scalar-color-red: ${color('bad')};`;
}
