import { request } from 'node:https';
import type { HostNames } from '../../base/dns/host-names.ts';
import { ByteCollector } from '../../base/fairness/byte-collector.ts';
import { guardedLookup, guardResponse } from '../../base/network/guarded-request.ts';
import { PublicNetworks } from '../../base/network/public-networks.ts';

/** Max response size in bytes. */
const maxBytes = 100_000;
const defaultTimeoutMs = 5_000;

/** Overrides for tests: networks and trusted certificates. */
export interface FetchTextOptions {
  readonly networks?: PublicNetworks;
  readonly port?: number;
  readonly ca?: string;
  readonly timeoutMs?: number;
}

/**
 * Fetches text such as Amazon's certificates from a trusted URL: only https, only the public internet, with limits on
 * time and size, without following redirects.
 * @throws if the response isn't 200, is too long or times out
 */
export function fetchText(
  url: string,
  hostNames: HostNames,
  options: FetchTextOptions = {},
): Promise<string> {
  const { networks = new PublicNetworks([]), port, ca } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        agent: false,
        lookup: guardedLookup(networks, hostNames),
        signal: AbortSignal.timeout(options.timeoutMs ?? defaultTimeoutMs),
        ...(port !== undefined && { port }),
        ...(ca !== undefined && { ca }),
      },
      (response) => {
        const fail = (reason: string): void => {
          outgoing.destroy();
          reject(new Error(`${new URL(url).hostname} ${reason}`));
        };
        if (response.statusCode !== 200) return fail(`returned ${response.statusCode}`);
        const collected = new ByteCollector();
        response.on('data', (chunk: Buffer) => {
          if (collected.length + chunk.length > maxBytes) return fail('sent more than 100 kB');
          collected.add(chunk);
        });
        response.on('error', reject);
        response.on('end', () => resolve(collected.take().toString('utf8')));
      },
    );
    guardResponse(outgoing);
    outgoing.on('error', reject);
    outgoing.end();
  });
}
