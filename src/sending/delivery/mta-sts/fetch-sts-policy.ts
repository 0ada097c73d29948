import { request } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Dns } from '../../../base/dns/dns-client.ts';
import { guardResponse } from '../../../base/network/guarded-request.ts';
import type { PublicNetworks } from '../../../base/network/public-networks.ts';
import { findHostAddresses } from '../direct/host-addresses.ts';
import { parseStsPolicy, type StsPolicy } from './sts-policy.ts';

export interface StsFetchOptions {
  /** Networks that policy hosts may be in: someone else's record must not lead into a private network. */
  readonly networks: PublicNetworks;
  /** For tests on one machine. */
  readonly port?: number;
  readonly ca?: string;
  readonly timeoutMs?: number;
}

/** Why a policy could not be fetched, in terms of RFC 8460 section 4.3. */
export type StsFetchFault = 'sts-policy-fetch-error' | 'sts-policy-invalid' | 'sts-webpki-invalid';

export type StsFetchResult =
  | { readonly kind: 'policy'; readonly policy: StsPolicy }
  | { readonly kind: 'fault'; readonly fault: StsFetchFault; readonly text: string };

/** RFC 8461 section 3.3 suggests at most a minute and 64 kB. */
const defaultTimeoutMs = 30_000;
const maxPolicyLength = 65_536;

/**
 * Fetches a domain's policy (RFC 8461 section 3.3) over HTTPS from `mta-sts.<domain>`, verifying the certificate and
 * without following redirects.
 */
export async function fetchStsPolicy(
  dns: Dns,
  domain: string,
  options: StsFetchOptions,
): Promise<StsFetchResult> {
  const host = `mta-sts.${domain}`;
  const found = await findHostAddresses(dns, host, [4, 6]);
  const usable =
    found.kind === 'none'
      ? []
      : found.addresses.filter(({ address }) => options.networks.allows(address));
  if (usable.length === 0) {
    const text = found.kind === 'none' ? found.text : `${host} is inside a private network`;
    return { kind: 'fault', fault: 'sts-policy-fetch-error', text };
  }
  const lookup: LookupFunction = (_name, wanted, callback) => {
    const list = usable.map(({ address, family }) => ({ address, family }));
    const [first] = list;
    if (wanted.all) callback(null, list);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };
  return await get(host, lookup, options);
}

function get(
  host: string,
  lookup: LookupFunction,
  options: StsFetchOptions,
): Promise<StsFetchResult> {
  return new Promise((resolve) => {
    const fail = (fault: StsFetchFault, text: string): void =>
      resolve({ kind: 'fault', fault, text: `the MTA-STS policy at ${host}: ${text}` });
    const outgoing = request(
      {
        host,
        servername: host,
        port: options.port ?? 443,
        path: '/.well-known/mta-sts.txt',
        lookup,
        agent: false,
        signal: AbortSignal.timeout(options.timeoutMs ?? defaultTimeoutMs),
        ...(options.ca !== undefined && { ca: options.ca }),
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
          if (text.length <= maxPolicyLength) return;
          outgoing.destroy();
          fail('sts-policy-invalid', 'too long');
        });
        response.on('error', (error) => fail('sts-policy-fetch-error', error.message));
        response.on('end', () => {
          // RFC 8461 section 3.3: only a 200 with type text/plain is a policy; redirects aren't.
          const type = response.headers['content-type'] ?? '';
          if (response.statusCode !== 200)
            return fail('sts-policy-fetch-error', `HTTP ${response.statusCode}`);
          if (!/^text\/plain\s*(;|$)/i.test(type))
            return fail('sts-policy-invalid', 'not plain text');
          const policy = parseStsPolicy(text);
          if (policy === undefined) return fail('sts-policy-invalid', 'not a valid policy');
          resolve({ kind: 'policy', policy });
        });
      },
    );
    guardResponse(outgoing);
    outgoing.on('error', (error) => {
      const untrusted = /certificate|altname|self.signed/i.test(error.message);
      fail(untrusted ? 'sts-webpki-invalid' : 'sts-policy-fetch-error', error.message);
    });
    outgoing.end();
  });
}
