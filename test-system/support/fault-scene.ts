import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Database, openDatabase } from '../../src/base/database/open-database.ts';
import { findRunningEmbedded } from '../../src/host/embedded-database/find-running-embedded.ts';
import { copyDataFolder } from '../../test/support/copy-data-folder.ts';
import { getDemoToken } from '../../test/support/demo-token.ts';
import { type Sink, startSink } from '../../test/support/mail-sink.ts';
import { type Running, spawnRunning } from '../../test/support/run-signalpost.ts';
import { metricsHeaders, serviceTokens } from '../../test/support/service-tokens.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const program = join(import.meta.dirname, '../../bin/signalpost');

/** How the service of a fault test runs. */
export interface FaultSceneOptions {
  /** Settings in addition to those of the scene. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The command that runs the service's own, such as in a control group. */
  readonly wrap?: (program: string, args: readonly string[]) => [program: string, args: string[]];
  readonly dataDir?: string;
  /** How this process reaches DATABASE_URL, if in another way than the service. */
  readonly databaseUrl?: string;
  /** Set DELIVERY or SMTP_URL in `environment` to send elsewhere than into the scene's sink. */
  readonly sink?: Sink;
}

interface Sent {
  readonly status: number;
  readonly message: string;
}

/** `signalpost start` with its demo account, a relay, and a record of what was promised and what arrived. */
export class FaultScene {
  readonly dataDir: string;
  readonly sink: Sink;
  /** IDs of messages that got a 200. */
  readonly accepted = new Set<string>();
  readonly #options: FaultSceneOptions;
  #service: Running | undefined;
  #url = '';
  #token = '';

  private constructor(options: FaultSceneOptions, sink: Sink) {
    this.dataDir =
      options.dataDir ??
      (options.environment?.DATABASE_URL === undefined
        ? copyDataFolder('started')
        : temporaryFolder());
    this.sink = sink;
    this.#options = options;
  }

  static async start(options: FaultSceneOptions = {}): Promise<FaultScene> {
    const scene = new FaultScene(options, options.sink ?? (await startSink()));
    await scene.startService();
    return scene;
  }

  get environment(): Record<string, string> {
    return {
      DATA_DIR: this.dataDir,
      PORT: '0',
      DEMO: '1',
      LOG_LEVEL: 'info',
      SMTP_URL: `smtp://127.0.0.1:${this.sink.port}?tls=off`,
      ...serviceTokens,
      ...this.#options.environment,
    };
  }

  get service(): Running {
    if (this.#service === undefined) throw new Error('the service was not started');
    return this.#service;
  }

  get url(): string {
    return this.#url;
  }

  get token(): string {
    return this.#token;
  }

  /** Starts it, or another one after its end. */
  async startService(): Promise<void> {
    const { wrap } = this.#options;
    const [name, args] = wrap?.(program, ['start']) ?? [program, ['start']];
    this.#service = spawnRunning(name, args, this.environment);
    const [, url = ''] = await this.#service.printed(/Service\s+(https?:\/\/\S+)/);
    this.#url = url;
    await this.signIn();
  }

  /** What the service logged since its start. */
  get log(): string {
    return this.service.output.stderr;
  }

  /** Sends one message. @returns the status, 0 if there was no response, and the response's message */
  async send(number: number | string, key?: string): Promise<Sent> {
    try {
      const response = await this.post(
        {
          envelope: { toAddress: `reader-${number}@example.test` },
          content: {
            personalizationDataMap: { 'Order Number': `A-${number}`, 'Delivery Address': 'Here' },
          },
          actions: { trackOpens: false, trackClicks: false },
        },
        key,
      );
      const body = (await response.json()) as { messageId: string; message: string };
      if (response.status === 200) this.accepted.add(body.messageId);
      return { status: response.status, message: body.message };
    } catch (error) {
      return { status: 0, message: String(error) };
    }
  }

  /** @param key the `Idempotency-Key` */
  post(body: unknown, key?: string): Promise<Response> {
    return fetch(`${this.#url}/ete/v1/email/1000/receipt`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#token}`,
        'content-type': 'application/json',
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      body: JSON.stringify(body),
    });
  }

  /** The response of `/readyz`: `ready`, or the reason why not. */
  async readiness(): Promise<string> {
    const response = await fetch(`${this.#url}/readyz`);
    const { status, reason } = (await response.json()) as { status: string; reason?: string };
    return reason ?? status;
  }

  /** A gauge or counter without labels; NaN if it has no value. */
  async metric(name: string): Promise<number> {
    const response = await fetch(`${this.#url}/metrics`, { headers: metricsHeaders });
    const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(await response.text());
    return Number(found?.[1] ?? Number.NaN);
  }

  /** What `/metrics` says about results of attempts. */
  async outcomes(): Promise<string> {
    const response = await fetch(`${this.#url}/metrics`, { headers: metricsHeaders });
    const lines = (await response.text()).split('\n');
    return lines
      .filter((line) => /^signalpost_delivery_outcomes_total.* [1-9]/.test(line))
      .join('\n');
  }

  /** What `signalpost doctor` prints. */
  doctor(...args: string[]): Promise<string> {
    return this.run('doctor', ...args);
  }

  /** What another command prints, run as the service is. */
  async run(...command: string[]): Promise<string> {
    const [name, args] = this.#options.wrap?.(program, command) ?? [program, command];
    const { exit, output } = spawnRunning(name, args, this.environment);
    await exit;
    return output.stdout + output.stderr;
  }

  /** Waits until every message that got a 200 has arrived. */
  async waitForAccepted(timeoutMs = 60_000): Promise<void> {
    const isMissing = (): number => {
      const copies = this.copies;
      return [...this.accepted].filter((id) => !copies.has(id)).length;
    };
    await waitFor('all accepted messages to arrive', () => isMissing() === 0, timeoutMs).catch(
      (error: Error) => {
        throw new Error(`${isMissing()} of ${this.accepted.size} are missing: ${error.message}`);
      },
    );
  }

  /** How often each message arrived, by its ID. */
  get copies(): ReadonlyMap<string, number> {
    const copies = new Map<string, number>();
    for (const { source } of this.sink.mails) {
      const id = /^Message-ID: <([^@]+)@/m.exec(source)?.[1] ?? '';
      copies.set(id, (copies.get(id) ?? 0) + 1);
    }
    return copies;
  }

  /** Messages that arrived more often than their events say; each event `uncertain` explains one copy. */
  async findUnrecordedCopies(): Promise<string[]> {
    const database = await this.openDatabase();
    try {
      const { rows } = await database.pool.query<{ id: string; count: number }>(
        `select message_id as id, count(*)::int as count from message_event where kind = 'uncertain' group by 1`,
      );
      const uncertain = new Map(rows.map(({ id, count }) => [id, count]));
      return [...this.copies]
        .filter(([id, count]) => count > 1 + (uncertain.get(id) ?? 0))
        .map(([id]) => id);
    } finally {
      await database.close();
    }
  }

  async openDatabase(): Promise<Database> {
    const url = this.#options.databaseUrl ?? this.environment.DATABASE_URL;
    const settings = url === undefined ? await findRunningEmbedded(this.dataDir) : { url };
    if (settings === undefined) throw new Error('no database is running');
    return openDatabase(settings, { maxConnections: 1 });
  }

  /** Gets a new token. */
  async signIn(): Promise<void> {
    this.#token = await getDemoToken(this.#url, this.dataDir);
  }
}

/** A program that sends a message again, with its key, until it gets a 200. */
export class PersistentSenders {
  /** The numbers of messages that got a 200. */
  readonly done = new Set<number>();
  /** How long the responses took that weren't 200, in milliseconds, by their status. */
  readonly refusals: { readonly status: number; readonly ms: number }[] = [];
  readonly #scene: FaultScene;
  readonly #running: Promise<void>[];
  #number = 0;
  #isStopping = false;

  constructor(scene: FaultScene, atOnce: number) {
    this.#scene = scene;
    this.#running = Array.from({ length: atOnce }, () => this.#run());
  }

  /** Resolves once the messages that were begun have got a 200. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#running);
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      this.#number += 1;
      const number = this.#number;
      for (;;) {
        const startedAt = performance.now();
        const { status } = await this.#scene.send(number, `key-${number}`);
        if (status === 200) break;
        this.refusals.push({ status, ms: performance.now() - startedAt });
        await delay(100);
      }
      this.done.add(number);
      await delay(20);
    }
  }
}

/** Runs `work` for each number from 1 to `count`, so many at once. */
export async function repeatAtOnce(
  count: number,
  atOnce: number,
  work: (number: number) => Promise<unknown>,
): Promise<void> {
  let next = 1;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let number = next++; number <= count; number = next++) await work(number);
    }),
  );
}
