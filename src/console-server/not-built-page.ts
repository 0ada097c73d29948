import { pageHead, pageSources } from '../brand/brand-files.ts';
import { brandMark } from '../brand/brand-mark.ts';

/** The policy of the page. */
export const notBuiltPolicy = `${pageSources}; frame-ancestors 'none'`;

/** Shown until the console is built. Reloads automatically, as `start` may be building it. */
export const notBuiltPage = `<!doctype html>
<html lang="en">
<head>
${pageHead}
<meta http-equiv="refresh" content="5">
<title>Console not built · Signalpost</title>
</head>
<body>
<header><p class="brand">${brandMark}Signalpost</p></header>
<main>
<h1>Console not built yet</h1>
<p>The service itself is running. If it just started, it may still be building the console; this page reloads every five
seconds.</p>
<p>If nothing changes, run <code>npm ci &amp;&amp; npm run console</code> in the service’s folder.</p>
</main>
</body>
</html>
`;
