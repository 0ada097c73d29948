import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { AwsClient } from 'aws4fetch';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../../test-system/support/free-port.ts';

/** An S3 service with one bucket. */
export interface S3Service {
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bucket: string;
  /** Stops it, as if the network were gone. */
  stop(): Promise<void>;
  /** Starts it again with everything that was stored. */
  start(): Promise<void>;
}

const services = ['account', 'container', 'object', 'proxy'] as const;
const accessKey = 'test:backup';
const secretKey = 'a-secret-of-swift';
const bucket = 'signalpost';

/** Starts Debian's OpenStack Swift with its S3 API on one device in a temporary folder. */
export async function startSwift(): Promise<S3Service> {
  const folder = mkdtempSync(join(tmpdir(), 'signalpost-swift-'));
  const port = await configureSwift(folder);
  const endpoint = `http://127.0.0.1:${port}`;
  let running: ChildProcess[] = [];
  const start = async (): Promise<void> => {
    running = services.map((service) =>
      spawn(`swift-${service}-server`, [join(folder, `${service}-server.conf`)], {
        stdio: 'ignore',
      }),
    );
    const client = new AwsClient({
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      service: 's3',
      region: 'us-east-1',
      retries: 0,
    });
    // 409: it exists.
    await waitFor('the bucket', async () => {
      const response = await client
        .fetch(`${endpoint}/${bucket}`, { method: 'PUT' })
        .catch(() => undefined);
      return response?.status === 200 || response?.status === 409;
    });
  };
  const stop = async (): Promise<void> => {
    await Promise.all(
      running.map((child) => {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        return child.kill('SIGKILL') && child.exitCode === null ? ended : undefined;
      }),
    );
    running = [];
  };
  after(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  await start();
  return { endpoint, accessKey, secretKey, bucket, stop, start };
}

/** @returns the port of the S3 API */
async function configureSwift(folder: string): Promise<number> {
  mkdirSync(join(folder, 'devices', 'd1'), { recursive: true });
  let proxyPort = 0;
  for (const service of services) {
    const port = await freePort();
    const settings =
      service === 'proxy'
        ? proxyPipeline
        : `[pipeline:main]\npipeline = ${service}-server\n[app:${service}-server]\nuse = egg:swift#${service}\n`;
    writeFileSync(
      join(folder, `${service}-server.conf`),
      `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
# One process, so that a signal ends it.
workers = 0
swift_dir = ${folder}
devices = ${join(folder, 'devices')}
mount_check = false
fallocate_reserve = 0
user = ${userInfo().username}
${settings}`,
    );
    if (service === 'proxy') proxyPort = port;
    else buildRing(folder, service, port);
  }
  return proxyPort;
}

function buildRing(folder: string, service: string, port: number): void {
  const builder = join(folder, `${service}.builder`);
  for (const args of [
    ['create', '4', '1', '1'],
    ['add', `r1z1-127.0.0.1:${port}/d1`, '1'],
    ['rebalance'],
  ])
    execFileSync('swift-ring-builder', [builder, ...args], { stdio: 'ignore' });
}

const proxyPipeline = `
[pipeline:main]
pipeline = catch_errors cache s3api tempauth slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
# Ask servers again that weren't up yet.
error_suppression_limit = 1000000
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_${accessKey.replace(':', '_')} = ${secretKey} .admin
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
`;
