import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';
import { roleOf, runAdminStatement, withDatabase } from '../../scripts/scratch-database.ts';
import { copyDataFolder } from './copy-data-folder.ts';
import { type Finished, runInProcess } from './run-command.ts';
import { type Running, runSignalpost } from './run-signalpost.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { adminUrl } from './test-database.ts';

/** A service that was started as a command. */
export interface MovedService {
  readonly running: Running;
  readonly url: string;
  stop(): Promise<void>;
}

/** An installation that moves between databases, as an operator has it: commands, settings and a data folder. */
export class MoveScene {
  readonly folder = temporaryFolder();
  readonly dataDir = join(this.folder, 'data');
  readonly environment: Record<string, string>;

  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.environment = {
      DATA_DIR: this.dataDir,
      PORT: '0',
      LOG_LEVEL: 'warn',
      // Nothing listens there, so messages stay queued.
      SMTP_URL: 'smtp://127.0.0.1:1',
      WEBHOOK_NETWORKS: '127.0.0.0/8',
      ...environment,
    };
  }

  run(args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Finished> {
    return runInProcess(args, { ...this.environment, ...more });
  }

  /** Runs a command that has to succeed. @returns its output */
  async succeed(
    args: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const { code, out, err } = await this.run(args, more);
    assert.equal(code, 0, out + err);
    return out;
  }

  /** Runs a command that has to fail. @returns what it says */
  async fail(
    args: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const { code, out, err } = await this.run(args, more);
    assert.equal(code, 1, out + err);
    return err;
  }

  async start(more: Readonly<Record<string, string>> = {}): Promise<MovedService> {
    const environment: Record<string, string> = { ...this.environment, ...more };
    if (environment.DATABASE_URL === undefined && !existsSync(this.dataDir))
      copyDataFolder('started', this.dataDir);
    const running = runSignalpost(['start'], environment);
    const [, url = ''] = await running.printed(/Service\s+(http:\/\/\S+)/);
    const stop = async (): Promise<void> => {
      running.child.kill('SIGTERM');
      assert.equal(await running.exit, 0, running.output.stderr);
    };
    return { running, url, stop };
  }

  /** The demo's API key, which sends messages. */
  get demoKey(): string {
    const text = readFileSync(join(this.dataDir, 'demo.env'), 'utf8');
    const [, key = ''] = /DEMO_API_KEY='?([^'\s]+)/.exec(text) ?? [];
    return key;
  }
}

/** An empty database of the service's role. @param options of `create database` */
export async function createEmptyDatabase(options = ''): Promise<string> {
  const service = process.env.TEST_SERVICE_URL ?? '';
  const name = `move_${randomBytes(6).toString('hex')}`;
  await runAdminStatement(
    adminUrl(),
    `create database ${name} owner ${roleOf(service)} ${options}`,
  );
  after(() => runAdminStatement(adminUrl(), `drop database if exists ${name} with (force)`));
  return withDatabase(service, name);
}

/** A webhook endpoint that responds with a chosen status. */
export interface HookReceiver {
  readonly url: string;
  /** The IDs and types of the events that it accepted, in order. */
  readonly accepted: { readonly id: string; readonly type: string; readonly messageId: string }[];
  status: number;
}

/** Starts an endpoint for webhooks. */
export async function startHookReceiver(): Promise<HookReceiver> {
  const receiver: HookReceiver = { url: '', accepted: [], status: 200 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (receiver.status === 200) {
      const { type, data } = JSON.parse(Buffer.concat(chunks).toString());
      receiver.accepted.push({ id: data.eventId, type, messageId: data.messageId });
    }
    response.writeHead(receiver.status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return Object.assign(receiver, { url: `http://127.0.0.1:${port}/` });
}
