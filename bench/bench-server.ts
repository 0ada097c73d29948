import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { createApp } from '../src/app.ts';
import { nodeRoles } from '../src/base/threads/node-role.ts';
import { createLog } from '../src/base/values/log.ts';
import type { Http } from '../src/host/http/create-http.ts';
import { sendBodyBytes } from '../src/host/http/limits/route-limits.ts';
import { listen } from '../src/operating/command/listen.ts';
import { openInstallation } from '../src/operating/command/open-installation.ts';
import { aborted, stopSignal, stopWithTimeout } from '../src/operating/command/stop-service.ts';
import { reportUrl, superviseProcesses } from '../src/operating/command/supervise-processes.ts';
import { readConfig } from '../src/operating/config/config.ts';
import { SendBodyParser } from '../src/sending/submission/parse-send-body.ts';
import { readBodyJson } from '../src/sending/submission/read-body-json.ts';

/** A GET that redirects without a lookup, and a POST that only reads, parses and validates a send. */
function registerNoOpRoutes(http: Http): void {
  http.get('/bench/nothing/:token', (_request, reply) =>
    reply.code(302).header('location', 'https://shop.test/').send(),
  );
  const parser = new SendBodyParser();
  const response =
    '{"success":true,"message":"Successfully Accepted","messageId":"00000000-0000-7000-8000-000000000000","suppressedRecipients":[]}';
  http.direct.post('/bench/nothing/', '/bench/nothing/*', async (exchange) => {
    const body = await exchange.readBody();
    if ('unusable' in body) throw new Error(body.unusable);
    parser.parse(readBodyJson(body, exchange.request.headers['content-type']), true);
    exchange.answer(200, response);
  });
}

const noOpLimits = {
  caller: 'anyone',
  known: true,
  bodyBytes: sendBodyBytes,
  bodySeconds: 30,
} as const;
const moreRoutes = [
  { methods: ['GET'], path: '/bench/nothing/:token', ...noOpLimits },
  { methods: ['POST'], path: '/bench/nothing/*', ...noOpLimits },
] as const;

const config = readConfig(process.env);
const log = createLog(config.logLevel);
const signal = stopSignal();
const announce = (url: string): void => void process.stdout.write(`ready at ${url}\n`);

async function serveHere(): Promise<void> {
  const installation = await openInstallation(config, log, signal);
  const works = process.env.BENCH_WORKER !== undefined;
  const roles = new Set(nodeRoles.filter((role) => works || role !== 'worker'));
  const app = createApp({ config, log, roles, moreRoutes, ...installation });
  registerNoOpRoutes(app.http);
  await app.start();
  const url = await listen(app.http, config);
  if (cluster.isWorker) reportUrl(url);
  else announce(url);
  await aborted(signal);
  await stopWithTimeout(app, installation, log);
}

/** The service as `serve` runs it, with the routes above. */
const processes = Number(process.env.BENCH_PROCESSES ?? availableParallelism());
if (cluster.isWorker || processes === 1) {
  await serveHere();
  process.channel?.unref();
} else
  await superviseProcesses(
    { count: processes, ...config, socket: undefined },
    signal,
    log,
    announce,
  );
