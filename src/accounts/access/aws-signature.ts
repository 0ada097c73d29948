import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { unescape as unescapeLeniently } from 'node:querystring';
import { Fault } from '../../base/values/errors.ts';
import type { ApiKeyChecker } from './api-key-checker.ts';
import type { KeyPrincipal } from './principal.ts';

/** Seconds by which the clocks of a client and this service may differ, as Amazon allows. */
const maxSkewSeconds = 300;
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
type SignatureProblem = 'unsigned-headers' | 'wrong-scope' | 'expired' | 'mismatch';

/** @returns undefined if it isn't a header of Signature Version 4 */
export function parseSignature(authorization: string): ClaimedSignature | undefined {
  const [, accessKeyId = '', day = '', region = '', service = '', names = '', signature] =
    authorizationPattern.exec(authorization) ?? [];
  if (signature === undefined) return undefined;
  const signedHeaders = names.split(';');
  if (signedHeaders.length > maxSignedHeaders) return undefined;
  const bytes = Buffer.from(signature, 'hex');
  return { accessKeyId, day, region, service, signedHeaders, signature: bytes };
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
  const pairs = query.split('&').filter((pair) => pair !== '');
  return pairs
    .map((pair) => {
      const [name = '', ...value] = pair.split('=');
      // By name, then by value: a NUL comes before all that a name may have.
      return `${encode(unescapeLeniently(name))}\0${encode(unescapeLeniently(value.join('=')))}`;
    })
    .sort()
    .join('&')
    .replaceAll('\0', '=');
}

/** RFC 3986 section 2.3: only unreserved characters stay. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A request before its body is read. */
interface SignedHead extends Pick<SignedRequest, 'method' | 'headers'> {
  readonly authorization: string;
  /** The request line's, as the client may have sent them: a server can have added a prefix. */
  readonly targets: readonly string[];
}

/** Whose key signed a request. */
export interface RequestSigner {
  readonly principal: KeyPrincipal;
  /**
   * Ends the check with the body that arrived. The use of the key counts from here.
   * @param bodyHash SHA-256 in hex
   * @throws Fault UNAUTHORIZED
   */
  readonly checkBody: (bodyHash: string) => void;
}

const reasons: Readonly<Record<SignatureProblem, string>> = {
  'unsigned-headers': 'must cover Host, X-Amz-Date and every other X-Amz- header, each once',
  'wrong-scope': 'must be for the service ses, on the day of X-Amz-Date',
  // SDKs look for the words “Signature expired”, and correct their clock.
  expired: 'expired, or is ahead of time: X-Amz-Date must be within 5 minutes',
  mismatch:
    'doesn’t match: check the secret, and that no proxy changes the host, path or body of the request',
};

function wrongSignature(reason: string): Fault {
  return new Fault('UNAUTHORIZED', { details: [{ field: 'signature', reason }] });
}

/**
 * Finds who signed a request. If its head declares the hash of the body, the signature is checked before any of it is read.
 * @param now milliseconds since the epoch
 * @throws Fault UNAUTHORIZED, which says what is wrong with the signature, or nothing if its key is unknown
 */
export async function findSigner(
  signers: Pick<ApiKeyChecker, 'findSigning' | 'recordUse'>,
  { authorization, method, headers, targets }: SignedHead,
  now: number,
): Promise<RequestSigner> {
  const claimed = parseSignature(authorization);
  if (claimed === undefined) throw wrongSignature('isn’t one of Signature Version 4 in a header');
  if (headers['x-amz-security-token'] !== undefined)
    throw wrongSignature('can’t have a session: remove X-Amz-Security-Token');
  const problem = findClaimProblem(claimed, headers, now);
  if (problem !== undefined) throw wrongSignature(reasons[problem]);
  const key = await signers.findSigning(claimed.accessKeyId);
  if (key === undefined) throw new Fault('UNAUTHORIZED');
  const requireSigned = (bodyHash: string): void => {
    const isSigned = targets.some((target) =>
      isSignedWith(key.secret, claimed, { method, target, headers, bodyHash }),
    );
    if (!isSigned) throw wrongSignature(reasons.mismatch);
  };
  const declared = headers['x-amz-content-sha256']?.[0];
  if (declared !== undefined) requireSigned(declared);
  return {
    principal: key.principal,
    checkBody: (bodyHash) => {
      if (declared === undefined) requireSigned(bodyHash);
      else if (declared !== bodyHash) throw wrongSignature(reasons.mismatch);
      signers.recordUse(key.principal);
    },
  };
}
