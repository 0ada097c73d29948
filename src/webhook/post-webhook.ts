import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { guardedLookup, privateAddressMessage } from '../foundation/network/guarded-lookup.ts';
import type { PublicNetworks } from '../foundation/network/public-networks.ts';

/** Response from an endpoint. Status 0 means no response; `text` then says why. */
export interface WebhookResponse {
  readonly status: number;
  /** Start of the response body. */
  readonly text: string;
}

const timeoutMs = 15_000;
const maxResponseCharacters = 1_000;

/**
 * Posts a body to an endpoint. Connects to the exact address that was checked, which prevents DNS rebinding; doesn't
 * follow redirects and limits how much of the response it reads. Never throws for remote failures.
 */
export async function postWebhook(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  networks: PublicNetworks,
): Promise<WebhookResponse> {
  const target = URL.parse(url);
  const problem = target === null ? 'the URL is invalid' : findUrlProblem(target, networks);
  if (target === null || problem !== undefined) return { status: 0, text: problem ?? '' };
  try {
    return await exchange(target, headers, body, networks);
  } catch (error) {
    return {
      status: 0,
      text: (error instanceof Error ? error.message : String(error)).slice(0, 300),
    };
  }
}

/** Why a URL is not allowed, as far as known before the DNS lookup. */
function findUrlProblem(target: URL, networks: PublicNetworks): string | undefined {
  if (target.protocol !== 'https:' && target.protocol !== 'http:') return 'the URL must use https';
  if (target.username !== '' || target.password !== '')
    return 'the URL must not contain credentials';
  const host = target.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !networks.allows(host)) return privateAddressMessage;
  if (target.protocol === 'http:' && !(isIP(host) !== 0 && networks.isTrusted(host)))
    return 'the URL must use https';
  return undefined;
}

function exchange(
  target: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
  networks: PublicNetworks,
): Promise<WebhookResponse> {
  return new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'Signalpost-Webhook/1',
        ...headers,
      },
      agent: false,
      lookup: guardedLookup(networks),
      signal: AbortSignal.timeout(timeoutMs),
    };
    const onResponse = (response: IncomingMessage): void => {
      readBeginning(response).then(
        (text) => resolve({ status: response.statusCode ?? 0, text }),
        (error: unknown) => reject(error),
      );
    };
    const request: ClientRequest =
      target.protocol === 'https:'
        ? httpsRequest(target, options, onResponse)
        : httpRequest(target, options, onResponse);
    request.on('error', (error) =>
      reject(error.name === 'TimeoutError' ? new Error('no response within 15 seconds') : error),
    );
    request.end(body);
  });
}

async function readBeginning(response: IncomingMessage): Promise<string> {
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) {
    text += String(chunk);
    if (text.length >= maxResponseCharacters) break;
  }
  response.destroy();
  return text.slice(0, maxResponseCharacters).toWellFormed().replaceAll('\0', '');
}
