import { maxPasswordLength, minPasswordLength } from '../../accounts/account/hash-password.ts';
import {
  type ComparableAddress,
  normalizeAddress,
  parseEmailAddress,
} from '../../base/values/email-address.ts';
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

/** Names appear in pages and headers, so control characters and unpaired surrogates are rejected. */
export function checkText<Text extends string | undefined>(
  text: Text,
  path: ManifestPath,
  problems: ProblemCollector,
): Text {
  if (text === undefined) return text;
  if (/\p{Cc}/u.test(text)) problems.add(path, 'contains a control character');
  if (!text.isWellFormed()) problems.add(path, 'contains an unpaired surrogate');
  return text;
}

/** Checked here because the value comes from the environment, so the schema can't check its length. */
export function checkPassword(
  text: string | undefined,
  path: ManifestPath,
  problems: ProblemCollector,
): void {
  if (text === undefined) return;
  const length = Array.from(text).length;
  if (length < minPasswordLength)
    problems.add(path, `must have at least ${minPasswordLength} characters`);
  if (length > maxPasswordLength)
    problems.add(path, `must have at most ${maxPasswordLength} characters`);
}

/** VSCHAR of RFC 6749 appendix A.2; long enough to resist guessing, even though only a fast hash is stored. */
export function checkSecret(
  text: string | undefined,
  path: ManifestPath,
  problems: ProblemCollector,
): void {
  if (text !== undefined && !/^[ -~]{24,1000}$/.test(text))
    problems.add(path, 'must be 24 to 1000 printable ASCII characters');
}
