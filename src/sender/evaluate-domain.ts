import type { DomainFinding, DomainState, PublicDkimKey } from './sending-domain.ts';

export interface DomainEvaluation {
  readonly state: DomainState;
  readonly badChecks: number;
  /** Selectors that start signing. */
  readonly activate: readonly string[];
  /** Selectors that stop signing. */
  readonly retire: readonly string[];
  /** Seconds until the next check. */
  readonly nextCheckSeconds: number;
}

/** A single bad check may be a zone being edited or a resolver error, so it takes two in a row. */
const badChecksUntilBroken = 2;
const checkIntervalSeconds = {
  confirm: 120,
  broken: 900,
  unknown: 900,
  verified: 21_600,
  pending: 300,
  old: 3_600,
};
const dayMs = 86_400_000;

/**
 * Computes the next state of a domain from a check. Records that couldn't be looked up change nothing. A pending key whose
 * record is found replaces the active key of the same algorithm.
 * @param ageMs milliseconds since the domain was added
 */
export function evaluateDomain(
  state: DomainState,
  badChecks: number,
  keys: readonly PublicDkimKey[],
  findings: readonly DomainFinding[],
  ageMs: number,
): DomainEvaluation {
  const { activate, retire } = rotate(keys, findings);
  const required = findings.filter(({ record }) => record.required);
  const bad = required.some((one) => one.state === 'missing' || one.state === 'wrong');
  const unknown = required.some((one) => one.state === 'unknown');
  const base = { activate, retire };
  if (!bad && !unknown && required.length > 0)
    return {
      ...base,
      state: 'verified',
      badChecks: 0,
      nextCheckSeconds: checkIntervalSeconds.verified,
    };
  if (!bad) return { ...base, state, badChecks, nextCheckSeconds: checkIntervalSeconds.unknown };
  if (state === 'pending') {
    const nextCheckSeconds =
      ageMs < dayMs ? checkIntervalSeconds.pending : checkIntervalSeconds.old;
    return { ...base, state, badChecks: 0, nextCheckSeconds };
  }
  const count = badChecks + 1;
  const broken = state === 'broken' || count >= badChecksUntilBroken;
  return {
    ...base,
    state: broken ? 'broken' : 'verified',
    badChecks: count,
    nextCheckSeconds: broken ? checkIntervalSeconds.broken : checkIntervalSeconds.confirm,
  };
}

function rotate(
  keys: readonly PublicDkimKey[],
  findings: readonly DomainFinding[],
): { readonly activate: string[]; readonly retire: string[] } {
  const published = new Set(
    findings
      .filter(({ record, state }) => record.kind === 'dkim' && state === 'ok')
      .map(({ record }) => record.name.slice(0, record.name.indexOf('.'))),
  );
  const arriving = keys.filter((key) => key.state === 'pending' && published.has(key.selector));
  const leaving = keys.filter(
    (key) => key.state === 'active' && arriving.some((other) => other.algorithm === key.algorithm),
  );
  return {
    activate: arriving.map(({ selector }) => selector),
    retire: leaving.map(({ selector }) => selector),
  };
}
