import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { blockWith, substitute } from '../../test-system/support/deployment.ts';
import { freePort } from '../../test-system/support/free-port.ts';

/** Debian's Prometheus and Alertmanager with the rules of ops/ and the blocks of docs/operate/monitor.md. */
const root = join(import.meta.dirname, '../..');
const page = 'docs/operate/monitor.md';
const folder = temporaryFolder();

interface Notification {
  /** The receiver's path. */
  readonly path: string;
  readonly status: string;
  readonly alerts: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  }[];
}

const notifications: Notification[] = [];
const receiver = createServer(async (request, response) => {
  const body = JSON.parse(await text(request)) as Omit<Notification, 'path'>;
  notifications.push({ ...body, path: request.url ?? '' });
  response.end();
});
await once(receiver.listen(0, '127.0.0.1'), 'listening');
after(() => receiver.close());
const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

function write(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, `${content}\n`);
  return file;
}

function start(program: string, ...args: string[]): void {
  const child = spawn(program, args, { cwd: folder, stdio: 'ignore' });
  after(async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
}

const routing = write(
  'alertmanager.yml',
  substitute(blockWith(page, 'group_wait'), {
    'group_wait: 30s': 'group_wait: 1s',
    'https://on-call.example.com/hook': `${hook}/on-call`,
    'https://chat.example.com/hook': `${hook}/channel`,
  }),
);

function amtool(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('amtool', args, { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
  return stdout.trim();
}

test('Alertmanager accepts the routing of the page, and routes by severity', () => {
  amtool('check-config', routing);
  const route = (severity: string) =>
    amtool('config', 'routes', 'test', `--config.file=${routing}`, `severity=${severity}`);
  assert.equal(route('critical'), 'on-call');
  assert.equal(route('warning'), 'channel');
});

test('a service that stopped reaches the person on call, with what to do', async () => {
  const alertmanager = `127.0.0.1:${await freePort()}`;
  const stopped = `127.0.0.1:${await freePort()}`;
  // The same rules, without the minutes that they wait.
  const rules = readFileSync(join(root, 'ops/alerts.yaml'), 'utf8').replaceAll(
    / for: \w+/g,
    ' for: 0s',
  );
  const scrapes = substitute(blockWith(page, 'scrape_configs'), {
    '/etc/prometheus/signalpost-token': write('token', 'x'),
    '"mail1.internal:3000", "mail2.internal:3000"': `"${stopped}"`,
  });
  const configuration = write(
    'prometheus.yml',
    [
      'global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }',
      substitute(blockWith(page, 'rule_files'), {
        '/etc/prometheus/signalpost-alerts.yaml': write('alerts.yaml', rules),
      }),
      substitute(blockWith(page, 'alertmanagers'), { '127.0.0.1:9093': alertmanager }),
      scrapes,
    ].join('\n'),
  );
  start(
    'prometheus-alertmanager',
    `--config.file=${routing}`,
    `--storage.path=${join(folder, 'alertmanager')}`,
    `--web.listen-address=${alertmanager}`,
    '--cluster.listen-address=',
  );
  start(
    'prometheus',
    `--config.file=${configuration}`,
    `--storage.tsdb.path=${join(folder, 'tsdb')}`,
    `--web.listen-address=127.0.0.1:${await freePort()}`,
  );
  const { path, alerts } = await waitFor(
    'the notification',
    () => notifications.find(({ status }) => status === 'firing'),
    60_000,
  );
  assert.equal(path, '/on-call');
  const [alert] = alerts;
  assert.deepEqual([alert?.labels.alertname, alert?.labels.instance], ['SignalpostDown', stopped]);
  assert.match(alert?.annotations.description ?? '', /Check that it runs/);
  assert.match(alert?.annotations.docs ?? '', /troubleshoot/);
});
