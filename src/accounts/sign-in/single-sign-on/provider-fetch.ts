import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { CustomFetchOptions } from 'openid-client';
import type { HostNames } from '../../../base/dns/host-names.ts';
import { ByteCollector } from '../../../base/fairness/byte-collector.ts';
import {
  guardedLookup,
  guardResponse,
  privateAddressMessage,
} from '../../../base/network/guarded-request.ts';
import type { PublicNetworks } from '../../../base/network/public-networks.ts';

/** Max bytes of a provider's response; key sets and metadata have a few KiB. */
const maxResponseBytes = 256 * 1024;

/**
 * Sends a request to a provider. Connects to the exact address that was checked, which prevents DNS rebinding; follows no
 * redirects and reads a limited response.
 * @param networks where the provider may be; undefined: anywhere, because an operator chose it
 * @param hostNames resolves the provider's name if `networks` limit it; otherwise the system does
 * @throws Error if the URL isn't allowed, there is no response in time, or the response is too large
 */
export async function fetchFromProvider(
  url: string,
  options: Pick<CustomFetchOptions, 'method' | 'headers' | 'body' | 'signal'>,
  networks: PublicNetworks | undefined,
  hostNames: HostNames,
): Promise<Response> {
  const target = new URL(url);
  const problem = findTargetProblem(target, networks);
  if (problem !== undefined) throw new Error(`${url} can’t be used: ${problem}`);
  const body = options.body == null ? undefined : String(options.body);
  const response = await send(target, options, body, networks, hostNames);
  const status = response.statusCode ?? 0;
  const content = await readLimited(response);
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers))
    if (value !== undefined && name !== 'set-cookie') headers.set(name, String(value));
  // A Response throws for other statuses and for a body where HTTP has none.
  const hasBody = status >= 200 && ![204, 205, 304].includes(status);
  return new Response(hasBody ? content : null, { status: status < 200 ? 502 : status, headers });
}

function findTargetProblem(target: URL, networks: PublicNetworks | undefined): string | undefined {
  if (target.username !== '' || target.password !== '') return 'it contains credentials';
  const host = target.hostname.replace(/^\[|\]$/g, '');
  if (target.protocol === 'http:') {
    const isAllowed =
      networks === undefined ? isLoopback(host) : isIP(host) !== 0 && networks.isTrusted(host);
    if (!isAllowed) return 'it must use https';
  } else if (target.protocol !== 'https:') return 'it must use https';
  if (networks === undefined) return undefined;
  const isAllowed = isIP(host) === 0 ? networks.allowsName(host) : networks.allows(host);
  return isAllowed ? undefined : privateAddressMessage;
}

/** Whether a host of a URL is this machine itself. */
export function isLoopback(host: string): boolean {
  return /^(?:127\.\d+\.\d+\.\d+|\[?::1\]?|localhost)$/.test(host);
}

function send(
  target: URL,
  { method, headers, signal }: Pick<CustomFetchOptions, 'method' | 'headers' | 'signal'>,
  body: string | undefined,
  networks: PublicNetworks | undefined,
  hostNames: HostNames,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = {
      method,
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      },
      agent: false,
      ...(networks && { lookup: guardedLookup(networks, hostNames) }),
      ...(signal && { signal }),
    };
    const sent =
      target.protocol === 'https:'
        ? httpsRequest(target, options, resolve)
        : httpRequest(target, options, resolve);
    guardResponse(sent);
    sent.on('error', reject);
    sent.end(body);
  });
}

async function readLimited(response: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const collected = new ByteCollector();
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (collected.length + chunk.length > maxResponseBytes) {
      response.destroy();
      throw new Error(`the provider’s response is larger than ${maxResponseBytes} bytes`);
    }
    collected.add(chunk);
  }
  return Buffer.concat(collected.takePieces());
}
