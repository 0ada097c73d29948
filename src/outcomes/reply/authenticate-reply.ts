import type { Dns, DnsAnswer } from '../../base/dns/dns-client.ts';
import { toNodeResolver } from '../../base/dns/to-node-resolver.ts';
import { readEntity } from '../../base/mime/mime-entity.ts';
import { within } from '../../base/values/within.ts';
import {
  type AuthenticationResult,
  authenticationResults,
  type ReplyAuthentication,
  type ReplyOrigin,
} from './reply-content.ts';

/** DNS queries for one reply: SPF may need 10 with two for each (RFC 7208 section 4.6.4), each signature one. */
const maxQueries = 60;

/** The library's time grows with the square of a header and of its authors; mail programs write much less. */
const maxHeaderBytes = 64 * 1_024;
const maxAuthorCharacters = 4 * 1_024;

const temporaryError: AuthenticationResult = { result: 'temperror', domain: null };
/** When nothing could be checked in time. */
export const unauthenticated = allOf(temporaryError);

const permanentError: AuthenticationResult = { result: 'permerror', domain: null };
/** For a header that the library fails on or that is too long for it; refusing the reply would lose it. */
export const unreadable = allOf(permanentError);

function allOf(result: AuthenticationResult): ReplyAuthentication {
  return { spf: result, dkim: result, dmarc: result };
}

/**
 * Checks SPF, DKIM and DMARC of a reply. What DNS doesn't answer within the limits is `temperror`. Throws if the header is too
 * long or can't be read; then, the library can have changed anything in its thread.
 * @param hostname of this server
 * @param timeoutMs for all queries together
 */
export async function authenticateReply(
  source: Buffer,
  { remoteAddress, helo, envelopeFrom }: ReplyOrigin,
  dns: Dns,
  hostname: string,
  timeoutMs: number,
): Promise<ReplyAuthentication> {
  const { head, fields } = readEntity(source);
  const authors = fields.values('from').join();
  if (head.length === 0 || head.length > maxHeaderBytes || authors.length > maxAuthorCharacters)
    throw new Error('The header of the reply is too long to be checked');
  const { authenticate } = await import('mailauth');
  const { spf, dkim, dmarc } = await authenticate(source, {
    ip: remoteAddress,
    helo,
    sender: envelopeFrom,
    mta: hostname,
    resolver: toNodeResolver(limitQueries(dns, timeoutMs)),
    disableArc: true,
    disableBimi: true,
  });
  return {
    spf: spf ? resultOf(spf.status, spf.domain) : { result: 'none', domain: null },
    dkim: bestSignature(dkim?.results ?? []),
    // Several authors, or none (RFC 7489 section 6.6.1).
    dmarc: dmarc ? resultOf(dmarc.status, dmarc.domain) : permanentError,
  };
}

interface Signature {
  readonly signingDomain?: string | undefined;
  readonly status: { readonly result?: string; readonly aligned?: string | boolean | undefined };
}

function bestSignature(signatures: readonly Signature[]): AuthenticationResult {
  const passing = signatures.filter(({ status }) => status.result === 'pass');
  const best = passing.find(({ status }) => status.aligned) ?? passing[0] ?? signatures[0];
  return best === undefined
    ? { result: 'none', domain: null }
    : resultOf(best.status, best.signingDomain);
}

function resultOf(
  status: { readonly result?: string } | undefined,
  domain: string | false | undefined,
): AuthenticationResult {
  const result = authenticationResults.find((name) => name === status?.result) ?? 'none';
  return { result, domain: domain ? domain.slice(0, 253).toWellFormed().toLowerCase() : null };
}

/** Fails queries past the limits, so the sender of a reply controls neither their number nor their duration. */
function limitQueries(dns: Dns, timeoutMs: number): Dns {
  const deadline = performance.now() + timeoutMs;
  let queries = 0;
  return {
    async lookUp(name, type) {
      queries += 1;
      const leftMs = deadline - performance.now();
      if (queries > maxQueries || leftMs <= 0) return limitFault;
      return await within(dns.lookUp(name, type), leftMs, () => limitFault);
    },
  };
}

const limitFault = {
  kind: 'fault',
  text: 'too many or slow DNS queries',
  server: '',
} as const satisfies DnsAnswer<'TXT'>;
