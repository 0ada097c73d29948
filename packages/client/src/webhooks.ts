import { WebhookVerificationError } from './errors.ts';
import type { EventKind, SignalpostEvent } from './events.ts';
import { toBase64 } from './message.ts';

export interface VerifyOptions {
  /** The secret of the webhook, `whsec_…` (Supabase shows it as `v1,whsec_…`); both while you rotate it. */
  readonly secret: string | readonly string[];
  /** Max difference in seconds between the request's time and now. Default: 300. */
  readonly tolerance?: number;
}

/** A webhook request: the Fetch API's `Request`, or headers and the raw body. */
export type WebhookRequest =
  | Request
  | {
      readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
      readonly body: string | Uint8Array;
    };

/**
 * Verifies the signature and age of a webhook request (Standard Webhooks 1.0), also of another service.
 * @returns its event, or what `Payload` says that the other service sends
 * @throws WebhookVerificationError if it isn't signed with one of the secrets or is too old, if the body was parsed, or if
 *   the secret is empty; respond with 401, and log its message
 */
export async function verify<Payload = SignalpostEvent<EventKind>>(
  request: WebhookRequest,
  { secret, tolerance = 300 }: VerifyOptions,
): Promise<Payload> {
  const id = headerOf(request, 'webhook-id');
  const timestamp = headerOf(request, 'webhook-timestamp');
  const signatures = headerOf(request, 'webhook-signature');
  if (id === undefined || timestamp === undefined || signatures === undefined)
    throw refuse('the request has no webhook headers');
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1_000 - Number(timestamp)) > tolerance)
    throw refuse('the request is too old, or from the future');
  const body = await bodyTextOf(request);
  const signed = encoder.encode(`${id}.${timestamp}.${body}`);
  for (const one of typeof secret === 'object' ? secret : [secret]) {
    const key = await keyOf(one, 'verify');
    for (const signature of signatures.split(' ')) {
      // Supabase puts a comma after each, too.
      const [version, base64 = ''] = signature.split(',');
      const bytes = version === 'v1' ? fromBase64(base64) : undefined;
      // WebCrypto compares in constant time.
      if (bytes !== undefined && (await crypto.subtle.verify('HMAC', key, bytes, signed)))
        return JSON.parse(body) as Payload;
    }
  }
  throw refuse('no signature matches');
}

/**
 * Signs an event as the service does, for tests of your handler.
 * @param at when it is sent; default: now
 * @returns the headers and the body of the request
 */
export async function sign(
  event: SignalpostEvent<EventKind>,
  secret: string,
  at: Date = new Date(),
): Promise<{ headers: Record<string, string>; body: string }> {
  const body = JSON.stringify(event);
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const id = event.data.eventId;
  const key = await keyOf(secret, 'sign');
  const signed = encoder.encode(`${id}.${timestamp}.${body}`);
  const signature = toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, signed)));
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    },
    body,
  };
}

const encoder = new TextEncoder();

function refuse(message: string): WebhookVerificationError {
  return new WebhookVerificationError({ message: `Webhook refused: ${message}` });
}

function headerOf({ headers }: WebhookRequest, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const value = (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name];
  return typeof value === 'string' ? value : value?.[0];
}

async function bodyTextOf(request: WebhookRequest): Promise<string> {
  if (request instanceof Request) {
    if (!request.bodyUsed) return await request.text();
  } else if (typeof request.body === 'string') return request.body;
  else if (ArrayBuffer.isView(request.body)) return new TextDecoder().decode(request.body);
  throw refuse(
    'the body isn’t raw; pass it as it was received, before anything reads or parses it',
  );
}

function keyOf(secret: string, use: 'sign' | 'verify'): ReturnType<typeof crypto.subtle.importKey> {
  const bytes = fromBase64((secret ?? '').replace(/^(?:v1,)?whsec_/, ''));
  if (bytes === undefined) throw refuse('the secret isn’t one; it begins with whsec_');
  if (bytes.length === 0) throw refuse('the secret is empty; pass the one of the webhook');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [use]);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
