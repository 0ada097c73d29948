import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { addKey } from '../../test/support/api-key.ts';
import { type Running, runSignalpost } from '../../test/support/run-signalpost.ts';
import { goodBody } from '../../test/support/send-client.ts';
import { openShop } from '../../test/support/shop.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { TestAuthority } from '../../test/support/test-certificates.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { blockWith, substitute } from '../support/deployment.ts';
import { freePort } from '../support/free-port.ts';

/** Two nodes behind Debian's HAProxy with the configuration of the page about scaling. */
const host = 'mail.example.com';
const folder = temporaryFolder();
const { url, database } = await createTestDatabase();
const shop = await openShop(database);
const key = await addKey(database, shop.id);
const ports = [await freePort(), await freePort()] as const;
const proxyPort = await freePort();

async function startNode(port: number): Promise<Running> {
  const node = runSignalpost(['serve', '--processes', '1'], {
    DATABASE_URL: url,
    DATA_DIR: join(folder, 'data'),
    SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
    PORT: String(port),
    TRUST_PROXY: '127.0.0.1',
    DRAIN_SECONDS: '5',
    LOG_LEVEL: 'error',
  });
  await node.printed(/running at/);
  return node;
}

const nodes = [await startNode(ports[0]), await startNode(ports[1])];
const authority = new TestAuthority();
const certificate = authority.issue([host]);
const pem = join(folder, 'mail.pem');
writeFileSync(pem, `${certificate.cert}\n${certificate.key}\n`, { mode: 0o600 });
const configuration = join(folder, 'haproxy.cfg');
const statistics = join(folder, 'haproxy.sock');
writeFileSync(
  configuration,
  `global\n  stats socket ${statistics}\n\n${substitute(
    blockWith('docs/operate/scale.md', 'option httpchk'),
    {
      '/etc/haproxy/mail.pem': pem,
      ':443': `127.0.0.1:${proxyPort}`,
      '10.0.0.11:3000': `127.0.0.1:${ports[0]}`,
      '10.0.0.12:3000': `127.0.0.1:${ports[1]}`,
    },
  )}\n`,
);
const checked = spawnSync('haproxy', ['-c', '-f', configuration], { encoding: 'utf8' });
assert.equal(checked.status, 0, checked.stderr);
const proxy = spawn('haproxy', ['-db', '-f', configuration], { stdio: 'ignore' });
after(async () => {
  proxy.kill('SIGTERM');
  await once(proxy, 'exit');
});

const agent = new Agent({ keepAlive: true, maxSockets: 32, ca: authority.ca, servername: host });
after(() => agent.destroy());

/** Whether the proxy uses both nodes, which takes two of its checks after a restart. */
async function usesBoth(): Promise<boolean> {
  const socket = connect(statistics);
  socket.end('show stat\n');
  const answer = await text(socket).catch(() => 'the proxy is starting');
  const lines = answer.split('\n');
  return lines.filter((line) => /^signalpost,node[12],.*,UP,/.test(line)).length === 2;
}

/** @returns `200`, the beginning of another response, or what went wrong */
function send(): Promise<string> {
  return new Promise((resolve) => {
    const outgoing = request({
      host: '127.0.0.1',
      port: proxyPort,
      path: `/ete/v1/email/${shop.id}/t-0001`,
      method: 'POST',
      agent,
      headers: { host, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    outgoing.once('response', (response) => {
      text(response).then(
        (body) =>
          resolve(
            response.statusCode === 200 ? '200' : `${response.statusCode} ${body.slice(0, 200)}`,
          ),
        (error) => resolve(String(error)),
      );
    });
    outgoing.once('error', (error) => resolve(String(error)));
    outgoing.end(JSON.stringify(goodBody()));
  });
}

test('restarting one node after the other under load fails none of 10,000 requests', async (t) => {
  await waitFor('the proxy to find the nodes', usesBoth);
  const results = new Map<string, number>();
  const count = (): number => [...results.values()].reduce((sum, value) => sum + value, 0);
  let restarting = true;
  after(() => {
    restarting = false;
  });
  const callers = Array.from({ length: 32 }, async () => {
    while (restarting || count() < 10_000) {
      const result = await send();
      results.set(result, (results.get(result) ?? 0) + 1);
    }
  });
  for (const [place, port] of ports.entries()) {
    const node = nodes[place];
    node?.child.kill('SIGTERM');
    assert.equal(await node?.exit, 0);
    nodes[place] = await startNode(port);
    await waitFor('the proxy to use it again', usesBoth);
    const answered = count();
    await waitFor('responses after the restart', () => count() > answered + 2_000);
  }
  restarting = false;
  await Promise.all(callers);
  t.diagnostic(JSON.stringify([...results]));
  assert.deepEqual([...results.keys()], ['200']);
  const { rows } = await database.pool.query('select count(*)::int as stored from message');
  assert.equal(rows[0].stored, count());
});
