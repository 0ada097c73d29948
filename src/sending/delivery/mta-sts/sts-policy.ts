/** RFC 8461 section 5: what to do with a server that doesn't match the policy. */
export type StsMode = 'enforce' | 'testing' | 'none';

/** A domain's requirements for servers that send it mail (RFC 8461 section 3.2). */
export interface StsPolicy {
  readonly mode: StsMode;
  /** Hostnames, or `*.` and a domain. */
  readonly mx: readonly string[];
  /** In seconds. */
  readonly maxAge: number;
}

/** RFC 8461 section 3.2: about a year. */
const maxAgeSeconds = 31_557_600;
const maxPatterns = 100;
const pattern =
  /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/i;
const recordPattern = /^v=STSv1\s*;(.*)$/;
const idPattern = /(?:^|;)\s*id=([A-Za-z0-9]{1,32})\s*(?:;|$)/;

/**
 * The policy id from `_mta-sts` TXT records (RFC 8461 section 3.1). Undefined if there isn't exactly one policy record,
 * which means that the domain has no policy.
 */
export function readStsRecord(records: readonly string[]): string | undefined {
  const candidates = records.filter((record) => record.startsWith('v=STSv1'));
  if (candidates.length !== 1) return undefined;
  const fields = recordPattern.exec(candidates[0] ?? '')?.[1] ?? '';
  return idPattern.exec(fields)?.[1];
}

/** Parses a policy file; undefined if it is invalid. Unknown fields are ignored for forward compatibility. */
export function parseStsPolicy(text: string): StsPolicy | undefined {
  const fields = new Map<string, string>();
  const mx: string[] = [];
  for (const line of text.split(/\r?\n/, 1_000)) {
    const colon = line.indexOf(':');
    if (colon === -1) {
      if (line.trim() === '') continue;
      return undefined;
    }
    const key = line.slice(0, colon).trim();
    const value = line.slice(colon + 1).trim();
    if (key === 'mx') mx.push(value.toLowerCase().replace(/\.$/, ''));
    // RFC 8461 section 3.2: for fields other than mx, the first one wins.
    else if (!fields.has(key)) fields.set(key, value);
  }
  const mode = fields.get('mode');
  const age = fields.get('max_age') ?? '';
  if (fields.get('version') !== 'STSv1' || !/^\d{1,10}$/.test(age)) return undefined;
  if (mode !== 'enforce' && mode !== 'testing' && mode !== 'none') return undefined;
  if (mode !== 'none' && mx.length === 0) return undefined;
  if (mx.length > maxPatterns || !mx.every((name) => pattern.test(name))) return undefined;
  return { mode, mx, maxAge: Math.min(Number(age), maxAgeSeconds) };
}

/** RFC 8461 section 4.1: `*.` matches exactly one label. */
export function allowsHost(policy: StsPolicy, host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '');
  const parent = name.slice(name.indexOf('.') + 1);
  return policy.mx.some((allowed) =>
    allowed.startsWith('*.') ? name.includes('.') && parent === allowed.slice(2) : name === allowed,
  );
}
