import { maxPasswordLength, minPasswordLength } from '../account/hash-password.ts';
import {
  type ComparableAddress,
  type EmailAddress,
  normalizeAddress,
  parseEmailAddress,
} from '../foundation/email-address.ts';
import type { ManifestFiles } from './manifest-files.ts';
import type { ManifestPath, ProblemCollector } from './manifest-problems.ts';

/** The context for building a part of a manifest. */
export interface BuildContext {
  readonly files: ManifestFiles;
  readonly problems: ProblemCollector;
}

/** The normalized address. */
export function parseManifestAddress(
  text: string,
  path: ManifestPath,
  problems: ProblemCollector,
): ComparableAddress {
  const parsed = parseEmailAddress(text);
  if (parsed.ok) return normalizeAddress(parsed.address);
  problems.add(path, `is not a valid email address: it ${parsed.reason}`);
  return text.toLowerCase() as ComparableAddress;
}

/** Keeps the case of the local part, which the receiving server may distinguish; an empty text is kept. */
export function parseOptionalAddress(
  text: string | undefined,
  path: ManifestPath,
  problems: ProblemCollector,
): EmailAddress | '' | undefined {
  if (text === undefined || text === '') return text;
  const parsed = parseEmailAddress(text);
  if (parsed.ok) return parsed.address;
  problems.add(path, `is not a valid email address: it ${parsed.reason}`);
  return '';
}

/** Names appear in pages and headers, so control characters and unpaired surrogates are rejected. */
export function checkText(text: string, path: ManifestPath, problems: ProblemCollector): string {
  if (/\p{Cc}/u.test(text)) problems.add(path, 'contains a control character');
  if (!text.isWellFormed()) problems.add(path, 'contains an unpaired surrogate');
  return text;
}

/** Checked here because the value comes from the environment, so the schema can't check its length. */
export function checkPassword(
  text: string | undefined,
  path: ManifestPath,
  problems: ProblemCollector,
): string | undefined {
  if (text === undefined) return undefined;
  const length = Array.from(text).length;
  if (length < minPasswordLength)
    problems.add(path, `must have at least ${minPasswordLength} characters`);
  if (length > maxPasswordLength)
    problems.add(path, `must have at most ${maxPasswordLength} characters`);
  return text;
}

/** VSCHAR of RFC 6749 appendix A.2; long enough to resist guessing, even though only a fast hash is stored. */
export function checkSecret(
  text: string | undefined,
  path: ManifestPath,
  problems: ProblemCollector,
): string | undefined {
  if (text !== undefined && !/^[ -~]{24,1000}$/.test(text))
    problems.add(path, 'must be 24 to 1000 printable ASCII characters');
  return text;
}

const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost']);

/**
 * Why a redirect URL can't be registered, or undefined. RFC 6749 section 3.1.2: absolute, without a fragment. RFC 8252
 * section 7: plain http only on loopback; a private scheme is a reversed domain, so it contains a dot.
 */
export function findRedirectUriProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null) return 'must be an absolute URL';
  if (/[^\x21-\x7e]/.test(text)) return 'must consist of ASCII characters without spaces';
  if (text.includes('#')) return 'must not have a fragment (#…)';
  if (url.username !== '' || url.password !== '') return 'must not contain a user or password';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:')
    return loopbackHosts.has(url.hostname)
      ? undefined
      : 'must be https unless the host is loopback';
  if (url.protocol.includes('.')) return undefined;
  return 'must be https, http on loopback, or a private scheme such as com.example.app:/callback';
}
