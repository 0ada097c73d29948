import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { codeOf } from '../../base/database/sqlstate.ts';
import type { HostNames } from '../../base/dns/host-names.ts';
import {
  guardedLookup,
  guardResponse,
  privateAddressMessage,
} from '../../base/network/guarded-request.ts';
import type { PublicNetworks } from '../../base/network/public-networks.ts';

/** One request to an endpoint and its response. */
export interface WebhookExchange {
  /** Without credentials. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** 0 means no response; `text` then says why. */
  readonly status: number;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** Start of the response body. */
  readonly text: string;
  readonly durationMs: number;
}

/** 2xx: the endpoint has the event. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

type Response = Pick<WebhookExchange, 'status' | 'responseHeaders' | 'text'>;

const timeoutMs = 15_000;
const maxResponseCharacters = 1_000;
/** The status counts as soon as it arrives; the body is only for people, and may be slow, endless or broken. */
const maxBodyMs = 1_000;
/** Limits of the response headers that are kept. */
const maxHeaders = 40;
const maxHeaderCharacters = 4_000;

const privateUrlMessage = `${privateAddressMessage}, which isn’t in WEBHOOK_NETWORKS`;

/** A connection for requests one after the other, so that each needn't wait for a TLS handshake of its own. */
export class WebhookConnection implements Disposable {
  readonly #http = new HttpAgent({ keepAlive: true, maxSockets: 1 });
  readonly #https = new HttpsAgent({ keepAlive: true, maxSockets: 1 });

  agentFor({ protocol }: URL): HttpAgent {
    return protocol === 'https:' ? this.#https : this.#http;
  }

  [Symbol.dispose](): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

/**
 * Posts a body to an endpoint. Connects to the exact address that was checked, which prevents DNS rebinding; doesn't
 * follow redirects and limits how much of the response it reads. Never throws for remote failures.
 * @param connection undefined: the request gets one of its own
 */
export async function postWebhook(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  networks: PublicNetworks,
  hostNames: HostNames,
  connection?: WebhookConnection,
): Promise<WebhookExchange> {
  const requestHeaders: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': 'Signalpost-Webhook/1',
    ...headers,
  };
  const startedAt = performance.now();
  const response = await exchange(URL.parse(url));
  // The log is for everyone who may see webhooks.
  const { authorization: _, ...shownHeaders } = requestHeaders;
  return {
    requestHeaders: shownHeaders,
    ...response,
    durationMs: Math.round(performance.now() - startedAt),
  };

  async function exchange(target: URL | null): Promise<Response> {
    const problem = target === null ? 'the URL is invalid' : findUrlProblem(target, networks);
    if (target === null || problem !== undefined) return noResponse(problem ?? '');
    try {
      return await request(target);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return noResponse(reason === privateAddressMessage ? privateUrlMessage : reason);
    }
  }

  function request(target: URL): Promise<Response> {
    return new Promise((resolve, reject) => {
      const options = {
        method: 'POST',
        headers: { 'content-length': Buffer.byteLength(body), ...requestHeaders },
        agent: connection?.agentFor(target) ?? false,
        lookup: guardedLookup(networks, hostNames),
        signal: AbortSignal.timeout(timeoutMs),
      };
      const onResponse = (response: IncomingMessage): void => {
        sent.off('error', fail).on('error', () => undefined);
        void readBeginning(response).then((text) =>
          resolve({ status: response.statusCode ?? 0, responseHeaders: headersOf(response), text }),
        );
      };
      const fail = (error: Error): void => {
        // The server closed the connection between two requests. Receivers skip events that they know (`webhook-id`).
        if (sent.reusedSocket && codeOf(error) === 'ECONNRESET') resolve(request(target));
        else
          reject(
            error.name === 'TimeoutError' ? new Error('no response within 15 seconds') : error,
          );
      };
      const sent: ClientRequest =
        target.protocol === 'https:'
          ? httpsRequest(target, options, onResponse)
          : httpRequest(target, options, onResponse);
      guardResponse(sent);
      sent.on('error', fail);
      sent.end(body);
    });
  }
}

function noResponse(reason: string): Response {
  return { status: 0, responseHeaders: {}, text: storableText(reason.slice(0, 300)) };
}

/** Why a URL is not allowed, as far as known before the DNS lookup. */
function findUrlProblem(target: URL, networks: PublicNetworks): string | undefined {
  if (target.protocol !== 'https:' && target.protocol !== 'http:') return 'the URL must use https';
  if (target.username !== '' || target.password !== '')
    return 'the URL must not contain credentials';
  const host = target.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !networks.allows(host)) return privateUrlMessage;
  if (target.protocol === 'http:' && !(isIP(host) !== 0 && networks.isTrusted(host)))
    return 'the URL must use https';
  return undefined;
}

async function readBeginning(response: IncomingMessage): Promise<string> {
  let text = '';
  const timer = setTimeout(() => response.destroy(), maxBodyMs);
  try {
    response.setEncoding('utf8');
    for await (const chunk of response) {
      text += String(chunk);
      if (text.length >= maxResponseCharacters) break;
    }
  } catch {
    // What arrived is enough.
  }
  clearTimeout(timer);
  response.destroy();
  return storableText(text.slice(0, maxResponseCharacters));
}

/** The headers in the order of the response, as far as the limits allow. Cookies are the endpoint's own secrets. */
function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const kept: Record<string, string> = {};
  let characters = 0;
  const { 'set-cookie': _, ...shown } = headers;
  for (const [name, value] of Object.entries(shown).slice(0, maxHeaders)) {
    const text = Array.isArray(value) ? value.join(', ') : (value ?? '');
    characters += name.length + text.length;
    if (characters > maxHeaderCharacters) break;
    kept[name] = storableText(text);
  }
  return kept;
}

function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '');
}
