import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { guardedLookup, notPublic } from '../foundation/guarded-lookup.ts';
import type { PublicNetworks } from '../foundation/public-networks.ts';

/** What an endpoint answered; status 0: it gave no answer, and `text` says why. */
export interface WebhookAnswer {
  readonly status: number;
  /** The beginning of the answer's body. */
  readonly text: string;
}

const mostMilliseconds = 15_000;
const mostAnswer = 1_000;

/**
 * Posts a body to an endpoint. The address that is connected to is the very one that was checked, so a name that changes
 * its mind in between leads nowhere else; redirects are not followed; the answer is read in part only. Never throws for
 * what the outside does.
 */
export async function postWebhook(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  networks: PublicNetworks,
): Promise<WebhookAnswer> {
  const target = URL.parse(url);
  const problem = target === null ? 'the address cannot be read' : problemOf(target, networks);
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

/** Why an address may not be asked, as far as it shows before its name is looked up. */
export function problemOf(target: URL, networks: PublicNetworks): string | undefined {
  if (target.protocol !== 'https:' && target.protocol !== 'http:') return 'only https is asked';
  if (target.username !== '' || target.password !== '') return 'an address holds no credentials';
  const host = target.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !networks.allows(host)) return notPublic;
  if (target.protocol === 'http:' && !(isIP(host) !== 0 && networks.isTrusted(host)))
    return 'only https is asked';
  return undefined;
}

function exchange(
  target: URL,
  headers: Readonly<Record<string, string>>,
  body: string,
  networks: PublicNetworks,
): Promise<WebhookAnswer> {
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
      signal: AbortSignal.timeout(mostMilliseconds),
    };
    const onAnswer = (answer: IncomingMessage): void => {
      readBeginning(answer).then(
        (text) => resolve({ status: answer.statusCode ?? 0, text }),
        (error: unknown) => reject(error),
      );
    };
    const request: ClientRequest =
      target.protocol === 'https:'
        ? httpsRequest(target, options, onAnswer)
        : httpRequest(target, options, onAnswer);
    request.on('error', (error) =>
      reject(error.name === 'TimeoutError' ? new Error('no answer in 15 seconds') : error),
    );
    request.end(body);
  });
}

async function readBeginning(answer: IncomingMessage): Promise<string> {
  let text = '';
  answer.setEncoding('utf8');
  for await (const chunk of answer) {
    text += String(chunk);
    if (text.length >= mostAnswer) break;
  }
  answer.destroy();
  return text.slice(0, mostAnswer).toWellFormed().replaceAll('\0', '');
}
