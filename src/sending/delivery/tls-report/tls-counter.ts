import { PeriodicTask } from '../../../base/threads/periodic-task.ts';
import type { Log } from '../../../base/values/log.ts';
import type { TlsResult, TlsResultStore, TlsResultType } from './tls-result-store.ts';

/** Classifies a failed handshake by the TLS library's error text. */
export function classifyTlsFault(text: string): TlsResultType {
  if (/not support|\bSTARTTLS: [45]|upgrading connection with STARTTLS/i.test(text))
    return 'starttls-not-supported';
  if (/expired/i.test(text)) return 'certificate-expired';
  if (/hostname|altname|does not match/i.test(text)) return 'certificate-host-mismatch';
  if (/self.signed|unable to (verify|get)|issuer|signature|not trusted/i.test(text))
    return 'certificate-not-trusted';
  return 'validation-failure';
}

const writeIntervalMs = 30_000;
/** With more distinct results than this, counts are written immediately. */
const maxResults = 1_000;

/** Counts sessions in memory and writes the counts periodically. */
export class TlsCounter {
  readonly #store: TlsResultStore;
  readonly #log: Log;
  #counts = new Map<string, { result: TlsResult; sessions: number }>();
  readonly #writes = new PeriodicTask(writeIntervalMs, () => this.write());

  constructor(store: TlsResultStore, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  count(result: TlsResult): void {
    const key = [result.domain, result.policyType, result.type, result.host].join(' ');
    const count = this.#counts.get(key);
    if (count === undefined) this.#counts.set(key, { result, sessions: 1 });
    else count.sessions += 1;
    if (this.#counts.size > maxResults) void this.write();
  }

  start(): void {
    this.#writes.start();
  }

  async stop(): Promise<void> {
    await this.#writes.stop();
    await this.write();
  }

  /** Writes the counts. If that fails they are dropped: a gap in a report is better than growing memory. */
  async write(): Promise<void> {
    if (this.#counts.size === 0) return;
    const counts = [...this.#counts.values()].map(({ result, sessions }) => ({
      ...result,
      sessions,
    }));
    this.#counts = new Map();
    await this.#store.add(counts).catch((error: unknown) => {
      this.#log.debug({ err: error }, 'could not write counts for TLS reporting');
    });
  }
}
