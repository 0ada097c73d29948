import { createHmac, hash, timingSafeEqual } from 'node:crypto';

/** Seconds by which the clocks of a client and this service may differ, as Amazon allows. */
export const maxSkewSeconds = 300;
/** More than any client signs. */
const maxSignedHeaders = 100;

const authorizationPattern =
  /^AWS4-HMAC-SHA256 +Credential=([^/,\s]+)\/(\d{8})\/([^/,\s]+)\/([^/,\s]+)\/aws4_request, *SignedHeaders=([a-z0-9_-]+(?:;[a-z0-9_-]+)*), *Signature=([0-9a-f]{64})$/;
const datePattern = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** What the `Authorization` header of Signature Version 4 says. */
export interface ClaimedSignature {
  readonly accessKeyId: string;
  /** `yyyymmdd`. */
  readonly day: string;
  readonly region: string;
  readonly service: string;
  /** In lower case and order, as it was signed. */
  readonly signedHeaders: readonly string[];
  readonly signature: Buffer;
}

/** The parts of a request that are signed. */
export interface SignedRequest {
  readonly method: string;
  /** Path and query of the request line, as the client sent them. */
  readonly target: string;
  /** By lower-case name, each with all its values. */
  readonly headers: NodeJS.Dict<readonly string[]>;
  /** SHA-256 of the body in hex. */
  readonly bodyHash: string;
}

/** Why a signature doesn't count. */
export type SignatureProblem = 'unsigned-headers' | 'wrong-scope' | 'expired' | 'mismatch';

/** @returns undefined if it isn't a header of Signature Version 4 */
export function parseSignature(authorization: string): ClaimedSignature | undefined {
  const [, accessKeyId = '', day = '', region = '', service = '', names = '', signature] =
    authorizationPattern.exec(authorization) ?? [];
  if (signature === undefined) return undefined;
  const signedHeaders = names.split(';');
  if (signedHeaders.length > maxSignedHeaders) return undefined;
  return {
    accessKeyId,
    day,
    region,
    service,
    signedHeaders,
    signature: Buffer.from(signature, 'hex'),
  };
}

/**
 * What is wrong with a signature before its secret is looked at: it must sign the host and every `x-amz-` header, be for this
 * service, and not be older or newer than five minutes.
 * @param now milliseconds since the epoch
 */
export function findClaimProblem(
  { day, service, signedHeaders }: ClaimedSignature,
  headers: SignedRequest['headers'],
  now: number,
): SignatureProblem | undefined {
  const signed = new Set(signedHeaders);
  const must = [
    'host',
    'x-amz-date',
    ...Object.keys(headers).filter((name) => name.startsWith('x-amz-')),
  ];
  if (signed.size < signedHeaders.length || must.some((name) => !signed.has(name)))
    return 'unsigned-headers';
  const date = headers['x-amz-date']?.join() ?? '';
  if (service !== 'ses' || !date.startsWith(day)) return 'wrong-scope';
  const at = Date.parse(date.replace(datePattern, '$1-$2-$3T$4:$5:$6Z'));
  return Math.abs(now - at) <= maxSkewSeconds * 1_000 ? undefined : 'expired';
}

/** True if the secret made the signature of this request. Takes constant time for a request. */
export function isSignedWith(
  secret: string,
  claimed: ClaimedSignature,
  request: SignedRequest,
): boolean {
  const { day, region, service, signature } = claimed;
  const date = request.headers['x-amz-date']?.join() ?? '';
  const scope = `${day}/${region}/${service}/aws4_request`;
  const canonical = hash('sha256', canonicalRequest(claimed.signedHeaders, request));
  const key = [day, region, service, 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secret}`);
  const expected = hmac(key, `AWS4-HMAC-SHA256\n${date}\n${scope}\n${canonical}`);
  return timingSafeEqual(expected, signature);
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function canonicalRequest(
  signedHeaders: readonly string[],
  { method, target, headers, bodyHash }: SignedRequest,
): string {
  const [path = '', ...query] = target.split('?');
  const fields = signedHeaders.map((name) => {
    const values = (headers[name] ?? []).map((value) => value.trim().replaceAll(/[ \t]+/g, ' '));
    return `${name}:${values.join(',')}\n`;
  });
  return [
    method,
    canonicalPath(path),
    canonicalQuery(query.join('?')),
    fields.join(''),
    signedHeaders.join(';'),
    bodyHash,
  ].join('\n');
}

/** Without empty and relative segments, and encoded once more than in the request line. */
function canonicalPath(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(encode(segment));
  }
  return `/${kept.join('/')}${kept.length > 0 && path.endsWith('/') ? '/' : ''}`;
}

function canonicalQuery(query: string): string {
  if (query === '') return '';
  return query
    .split('&')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [encode(decode(name)), encode(decode(value.join('=')))] as const;
    })
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map((pair) => pair.join('='))
    .join('&');
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** RFC 3986 section 2.3: only unreserved characters stay. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Malformed escapes stay as they are: then the signature differs. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
