import type { AddressInfo } from 'node:net';
import { createApp } from '../src/app.ts';
import { openInstallation } from '../src/command/open-installation.ts';
import { readConfig } from '../src/config.ts';
import { createLog } from '../src/foundation/log.ts';
import { SendBodyParser } from '../src/submission/parse-send-body.ts';
import { keepRawBodies } from '../src/submission/raw-body.ts';
import { readBodyJson } from '../src/submission/read-body-json.ts';

/**
 * The service as `serve --role http` runs it, with one route more: a POST that does nothing but what every accepted
 * request needs of a server (the same hooks, the same reading of the body, JSON, schema validation) and answers at once.
 * What accepting costs is seen beside it.
 */
const config = readConfig(process.env);
const log = createLog(config.logLevel);
const installation = await openInstallation(config, log);
const app = createApp({ config, log, roles: new Set(['http'] as const), ...installation });

app.http.register(async (scope) => {
  keepRawBodies(scope);
  const parser = new SendBodyParser();
  const answer =
    '{"success":true,"message":"Successfully Accepted","messageId":"00000000-0000-7000-8000-000000000000","suppressedRecipients":[]}';
  scope.post<{ Body: Buffer }>('/bench/nothing/:accountId/:templateId', async (request, reply) => {
    parser.parse(readBodyJson(request.body, request.headers['content-type']), true);
    return reply.type('application/json; charset=utf-8').send(answer);
  });
});

await app.start();
await app.http.listen({ host: config.host, port: config.port });
const { port } = app.http.server.address() as AddressInfo;
process.stdout.write(`listening on ${port}\n`);
process.once('SIGTERM', async () => {
  await app.stop();
  await installation.close();
});
