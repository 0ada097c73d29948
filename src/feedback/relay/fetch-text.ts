import { request } from 'node:https';
import { guardedLookup } from '../../foundation/network/guarded-lookup.ts';
import { PublicNetworks } from '../../foundation/network/public-networks.ts';

/** Most bytes of an answer. */
const maxBytes = 100_000;
const defaultTimeoutMs = 5_000;

/** What tests change: where a name leads, and whom to trust. */
export interface FetchTextOptions {
  readonly networks?: PublicNetworks;
  readonly port?: number;
  readonly ca?: string;
  readonly timeoutMs?: number;
}

/**
 * Fetches a text from a fixed, trusted address, such as Amazon's certificates: by https, only from the public internet, in
 * bounded time and size. Redirects are not followed.
 * @throws where the answer is not 200, is too long or does not come in time
 */
export function fetchText(url: string, options: FetchTextOptions = {}): Promise<string> {
  const { networks = new PublicNetworks([]), port, ca } = options;
  return new Promise((resolve, reject) => {
    const asked = request(
      url,
      {
        agent: false,
        lookup: guardedLookup(networks),
        signal: AbortSignal.timeout(options.timeoutMs ?? defaultTimeoutMs),
        ...(port !== undefined && { port }),
        ...(ca !== undefined && { ca }),
      },
      (answer) => {
        const fail = (reason: string): void => {
          asked.destroy();
          reject(new Error(`${new URL(url).hostname} ${reason}`));
        };
        if (answer.statusCode !== 200) return fail(`answered ${answer.statusCode}`);
        const chunks: Buffer[] = [];
        let length = 0;
        answer.on('data', (chunk: Buffer) => {
          length += chunk.length;
          if (length > maxBytes) return fail('sent more than 100 kB');
          chunks.push(chunk);
        });
        answer.on('error', reject);
        answer.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      },
    );
    asked.on('error', reject);
    asked.end();
  });
}
