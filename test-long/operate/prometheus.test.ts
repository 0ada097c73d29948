import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { watchedMetrics, watchedNodes } from '../../ops/watched-metrics.ts';
import { metricDefinitions } from '../../src/base/telemetry/metrics-table.ts';
import { BackupScene, type ScenicService, sendReceipt } from '../../test/support/backup-scene.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { metricsHeaders, serviceTokens } from '../../test/support/service-tokens.ts';
import { TestAuthority } from '../../test/support/test-certificates.ts';
import { TestMx } from '../../test/support/test-mx.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { blockWith, substitute } from '../../test-system/support/deployment.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import { alertCases, healthySeries } from '../support/alert-cases.ts';

/** Debian's Prometheus with the files of ops/, as docs/operate/monitor.md sets them up. */
const root = join(import.meta.dirname, '../..');
const page = 'docs/operate/monitor.md';
const scene = new BackupScene();
const { folder } = scene;

function promtool(args: readonly string[], input?: string): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', input });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

/** A service with backups and a bounce server, which sends to a relay that rejects some recipients. */
async function startService(): Promise<ScenicService> {
  const relay = await new TestMx({
    address: '127.0.0.2',
    port: 0,
    onRcpt: (address) => (address.startsWith('nobody') ? '550 5.1.1 no such user' : undefined),
  }).start();
  const { key, cert } = new TestAuthority().issue(['mail.example.com'], 60);
  const files = { BOUNCE_TLS_KEY: join(folder, 'key.pem'), BOUNCE_TLS_CERT: join(folder, 'crt') };
  writeFileSync(files.BOUNCE_TLS_KEY, key);
  writeFileSync(files.BOUNCE_TLS_CERT, cert);
  delete scene.environment.METRICS_PUBLIC;
  Object.assign(scene.environment, files, {
    METRICS_TOKEN: serviceTokens.METRICS_TOKEN,
    SMTP_URL: `smtp://127.0.0.2:${relay.port}`,
    SMTP_HOSTNAME: 'mail.example.com',
    BOUNCE_HOST: '127.0.0.1',
    BOUNCE_PORT: String(await freePort()),
    BACKUP_TO: scene.target,
  });
  await scene.createKey();
  return scene.start();
}

const service = await startService();

/**
 * Only in services with settings that this one is without; `test/host/http/tls` and `test/sending/smtp-submission` see them.
 */
const absentMetrics = [
  'signalpost_submission_sessions',
  'signalpost_submission_replies_total',
  'signalpost_submission_certificate_expiry_timestamp_seconds',
  'signalpost_tls_certificate_expiry_timestamp_seconds',
];

/** Sends a receipt; an address without an order is refused. @returns the status */
async function send(toAddress: string, order?: string): Promise<number> {
  const { status } = await sendRequest(`${service.url}/ete/v1/email/1000/receipt`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      envelope: { toAddress },
      content: {
        personalizationDataMap: {
          ...(order !== undefined && { 'Order Number': order }),
          Total: '24.90',
        },
      },
      metadata: { transactional: true },
      actions: { trackOpens: false, trackClicks: false },
    }),
  });
  return status;
}

let rounds = 0;

async function sendSome(): Promise<void> {
  rounds += 1;
  await sendReceipt(service, 'A-1');
  // An address that bounced is suppressed.
  assert.equal(await send(`nobody${rounds}@customer.example`, 'A-2'), 200);
  assert.equal(await send('defer@simulator.test', 'A-3'), 200);
  assert.equal(await send('ada@customer.example'), 400);
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

class Prometheus {
  readonly #url: string;

  private constructor(url: string) {
    this.#url = url;
  }

  /** Starts it with the blocks of the page, scraping a service every second. */
  static async start(target: string): Promise<Prometheus> {
    const port = await freePort();
    const token = join(folder, 'token');
    writeFileSync(token, serviceTokens.METRICS_TOKEN);
    const scrapes = substitute(blockWith(page, 'scrape_configs'), {
      '/etc/prometheus/signalpost-token': token,
      '"mail1.internal:3000", "mail2.internal:3000"': `"${new URL(target).host}"`,
    });
    const rules = substitute(blockWith(page, 'rule_files'), {
      '/etc/prometheus/signalpost-alerts.yaml': join(root, 'ops/alerts.yaml'),
    });
    const file = join(folder, 'prometheus.yml');
    const interval = 'global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }';
    writeFileSync(file, `${interval}\n${rules}\n${scrapes}\n`);
    promtool(['check', 'config', file]);
    const child = spawn(
      'prometheus',
      [
        `--config.file=${file}`,
        `--storage.tsdb.path=${join(folder, 'tsdb')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=error',
      ],
      { stdio: 'ignore' },
    );
    after(async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
    });
    const prometheus = new Prometheus(`http://127.0.0.1:${port}`);
    await waitFor('Prometheus to answer', () =>
      fetch(`http://127.0.0.1:${port}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    return prometheus;
  }

  async query(query: string): Promise<Sample[]> {
    const parameters = String(new URLSearchParams({ query }));
    return (await this.#get<{ result: Sample[] }>(`query?${parameters}`)).result;
  }

  async rules() {
    type Rule = { readonly name: string; readonly health: string; readonly state: string };
    const { groups } = await this.#get<{ groups: { rules: Rule[] }[] }>('rules');
    return groups.flatMap(({ rules }) => rules);
  }

  async #get<Data>(path: string): Promise<Data> {
    const response = await fetch(`${this.#url}/api/v1/${path}`);
    const body = (await response.json()) as { status: string; error?: string; data: Data };
    assert.equal(body.status, 'success', `${path}: ${body.error}`);
    return body.data;
  }
}

interface DashboardPanel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const prometheus = await Prometheus.start(service.url);

test('a stranger can’t read the metrics', async () => {
  assert.equal((await sendRequest(`${service.url}/metrics`)).status, 401);
});

test('the service has the metrics of the table, and promtool finds no fault with them', async () => {
  await sendSome();
  const { text } = await sendRequest(`${service.url}/metrics`, { headers: metricsHeaders });
  // Those of Node.js have names that promtool dislikes.
  const own = text.split('\n').filter((line) => /^(# \w+ )?signalpost_/.test(line));
  const types = own.flatMap((line) => /^# TYPE (\w+) (\w+)$/.exec(line)?.slice(1).join(' ') ?? []);
  assert.deepEqual(
    types.sort(),
    Object.entries(metricDefinitions)
      .filter(([name]) => !absentMetrics.includes(name))
      .map(([name, { type }]) => `${name} ${type}`)
      .sort(),
  );
  promtool(['check', 'metrics'], `${own.join('\n')}\n`);
});

test('every query of the dashboard returns data of a service whose sends partly fail', async () => {
  const dashboard = JSON.parse(readFileSync(join(root, 'ops/grafana/signalpost.json'), 'utf8')) as {
    readonly panels: readonly DashboardPanel[];
  };
  const graphs = dashboard.panels.filter(({ type }) => type === 'timeseries');
  assert.ok(graphs.length > 20);
  const queries = graphs.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const empty = new Set(
    queries.filter((query) => !absentMetrics.some((name) => query.includes(name))),
  );
  const deadline = Date.now() + 90_000;
  while (empty.size > 0) {
    assert.ok(Date.now() < deadline, `no data:\n${[...empty].join('\n')}`);
    await sendSome();
    for (const query of empty) {
      const samples = await prometheus.query(query);
      if (samples.some(({ value }) => Number.isFinite(Number(value[1])))) empty.delete(query);
    }
  }
});

test('the metrics tell failures apart', async () => {
  const values = async (query: string): Promise<Record<string, boolean>> =>
    Object.fromEntries(
      (await prometheus.query(query)).map(({ metric, value }) => [
        Object.values(metric).join(' '),
        Number(value[1]) > 0,
      ]),
    );
  await waitFor('all outcomes', async () => {
    const found = await values(
      'sum by (outcome, receiver) (signalpost_delivery_outcomes_total) > 0',
    );
    return (
      found['delivered other'] && found['bounced other'] && found['deferred simulator'] && found
    );
  });
  assert.deepEqual(await values('sum by (error) (signalpost_send_refused_total) > 0'), {
    PERSONALIZATION_FAILURE: true,
  });
});

test('Prometheus evaluates every alert, and none fires for a service that works', async () => {
  const rules = await prometheus.rules();
  assert.deepEqual(
    rules.filter(({ health, state }) => health !== 'ok' || state === 'firing'),
    [],
  );
  assert.deepEqual(rules.map(({ name }) => name).sort(), alerts.map(({ name }) => name).sort());
});

const alerts = [...watchedNodes, ...Object.values(watchedMetrics)].flatMap(
  (metric) => metric.alerts ?? [],
);

/** What promtool expects of an alert at a time: that it fires with these labels, or that it doesn't. */
function expectAlert(name: string, minute: number, fired?: Readonly<Record<string, string>>) {
  const alert = alerts.find((each) => each.name === name);
  assert.ok(alert, name);
  const expected = fired && {
    exp_labels: { severity: alert.severity, ...fired },
    exp_annotations: {
      summary: alert.summary.replaceAll(
        /\{\{ \$labels\.(\w+) \}\}/g,
        (_all: string, label: string) => fired[label] ?? '',
      ),
      description: alert.action,
      docs: alert.docs,
    },
  };
  return { eval_time: `${minute}m`, alertname: name, exp_alerts: expected ? [expected] : [] };
}

function inputOf(series: Readonly<Record<string, string>>) {
  return Object.entries(series).map(([name, values]) => ({ series: name, values }));
}

test('promtool accepts the rules; each alert fires for its cause, and none for healthy series', () => {
  const file = join(root, 'ops/alerts.yaml');
  promtool(['check', 'rules', file]);
  assert.deepEqual(Object.keys(alertCases).sort(), alerts.map(({ name }) => name).sort());
  const minutes = [1, 10, 30, 60, 120, 175];
  const tests = [
    {
      interval: '1m',
      input_series: inputOf(healthySeries),
      alert_rule_test: alerts.flatMap(({ name }) =>
        minutes.map((minute) => expectAlert(name, minute)),
      ),
    },
    ...Object.entries(alertCases).flatMap(([name, { cause, harmless, labels, minute }]) => [
      {
        interval: '1m',
        input_series: inputOf({ ...healthySeries, ...cause }),
        alert_rule_test: [expectAlert(name, minute, { job: 'signalpost', ...labels })],
      },
      {
        interval: '1m',
        input_series: inputOf({ ...healthySeries, ...harmless }),
        alert_rule_test: minutes.map((each) => expectAlert(name, each)),
      },
    ]),
  ];
  const rules = join(folder, 'rules.test.yaml');
  // JSON is YAML.
  writeFileSync(rules, JSON.stringify({ rule_files: [file], evaluation_interval: '1m', tests }));
  promtool(['test', 'rules', rules]);
});
