import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { copyDataFolder } from './copy-data-folder.ts';
import { type Finished, runInProcess } from './run-command.ts';
import { type Running, runSignalpost } from './run-signalpost.ts';
import { sendRequest } from './send-request.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Where a command's environment, data and backups are, for tests that lose one and restore the other. */
export class BackupScene {
  readonly folder = temporaryFolder();
  readonly dataDir = join(this.folder, 'data');
  readonly target = join(this.folder, 'backups');
  readonly identity = join(this.folder, 'identity.txt');
  readonly environment: Record<string, string> = {
    DATA_DIR: this.dataDir,
    PORT: '0',
    LOG_LEVEL: 'warn',
    METRICS_PUBLIC: '1',
    // Nothing listens there, so messages stay queued.
    SMTP_URL: 'smtp://127.0.0.1:1',
  };

  /** Creates the key pair and sets BACKUP_RECIPIENT. */
  async createKey(): Promise<void> {
    const { out } = await this.run('backup', 'create-key', this.identity);
    const [, recipient = ''] = /BACKUP_RECIPIENT=(age1\w+)/.exec(out) ?? [];
    this.environment.BACKUP_RECIPIENT = recipient;
  }

  /** Runs a command that has to succeed. */
  async run(...args: string[]): Promise<Finished> {
    const finished = await runInProcess(args, this.environment);
    assert.equal(finished.code, 0, finished.err);
    return finished;
  }

  /** Runs a command that has to fail, and returns what it says. */
  async fail(...args: string[]): Promise<string> {
    const { code, out, err } = await runInProcess(args, this.environment);
    assert.equal(code, 1, out);
    return out + err;
  }

  /** Starts the service, the first time on a new database. */
  async start(): Promise<ScenicService> {
    if (!existsSync(this.dataDir)) copyDataFolder('started', this.dataDir);
    const running = runSignalpost(['start'], this.environment);
    const [, url = ''] = await running.printed(/Service\s+(http:\/\/\S+)/);
    const text = readFileSync(join(this.dataDir, 'demo.env'), 'utf8');
    const [, key = ''] = /DEMO_API_KEY='?([^'\s]+)/.exec(text) ?? [];
    return { running, url, key };
  }

  /** Kills the service and loses its disk. */
  async lose({ running }: ScenicService): Promise<void> {
    running.child.kill('SIGKILL');
    await running.exit;
    await rm(this.dataDir, { recursive: true, force: true, maxRetries: 20 });
  }

  /** What the queue says about a message. */
  async statusOf(message: string): Promise<Record<string, unknown>> {
    return JSON.parse((await this.run('queue', 'list', '1000', message, '--json')).out);
  }
}

/** A running service with its demo account. */
export interface ScenicService {
  readonly running: Running;
  readonly url: string;
  readonly key: string;
}

/** Sends one message with a key or token. @returns its ID */
export async function sendReceipt(
  { url, key }: Pick<ScenicService, 'url' | 'key'>,
  order: string,
): Promise<string> {
  const response = await sendRequest(`${url}/ete/v1/email/1000/receipt`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      envelope: { toAddress: 'ada@customer.example' },
      content: { personalizationDataMap: { 'Order Number': order, Total: '24.90' } },
      metadata: { transactional: true },
      actions: { trackOpens: false, trackClicks: false },
    }),
  });
  assert.equal(response.status, 200, response.text);
  return String(response.body.messageId);
}
