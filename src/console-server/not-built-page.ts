/** Shown until the console is built. Reloads automatically, as `start` may be building it. */
export const notBuiltPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="5">
<title>The console is not built · Signalpost</title>
</head>
<body>
<main>
<h1>The console is not built yet</h1>
<p>The service itself works. If it has just been started, it may be building the console now: this page looks again every
five seconds.</p>
<p>Otherwise run <code>npm ci &amp;&amp; npm run console</code> in the folder of the service.</p>
</main>
</body>
</html>
`;
