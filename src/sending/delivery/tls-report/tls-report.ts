import type { StsPolicy } from '../mta-sts/sts-policy.ts';
import type { TlsDay } from './tls-result-store.ts';

/** The reporting organization and its contact address. */
export interface TlsReporter {
  readonly organization: string;
  readonly contact: string;
}

/** A report in the format of RFC 8460 section 4.4. */
export interface TlsReport {
  readonly 'organization-name': string;
  readonly 'date-range': { readonly 'start-datetime': string; readonly 'end-datetime': string };
  readonly 'contact-info': string;
  readonly 'report-id': string;
  readonly policies: readonly TlsReportPolicy[];
}

interface TlsReportPolicy {
  readonly policy: {
    readonly 'policy-type': string;
    readonly 'policy-string'?: readonly string[];
    readonly 'policy-domain': string;
    readonly 'mx-host'?: readonly string[];
  };
  readonly summary: {
    readonly 'total-successful-session-count': number;
    readonly 'total-failure-session-count': number;
  };
  readonly 'failure-details': readonly {
    readonly 'result-type': string;
    readonly 'receiving-mx-hostname'?: string;
    readonly 'failed-session-count': number;
  }[];
}

/**
 * Builds a domain's report for one day (RFC 8460 section 4).
 * @param day in UTC: `2026-03-01`
 * @param counts of that day and domain, one per kind of policy
 * @param policy the domain's MTA-STS policy, if known
 */
export function makeTlsReport(
  day: string,
  domain: string,
  counts: readonly TlsDay[],
  policy: StsPolicy | undefined,
  { organization, contact }: TlsReporter,
): TlsReport {
  return {
    'organization-name': organization,
    'date-range': { 'start-datetime': `${day}T00:00:00Z`, 'end-datetime': `${day}T23:59:59Z` },
    'contact-info': contact,
    // Section 4.1: unique to this report, and the same if it is generated again.
    'report-id': `${day}_${domain}@${organization}`,
    policies: counts.map((count) => ({
      policy: {
        'policy-type': count.policyType,
        ...(count.policyType === 'sts' && policy !== undefined && describePolicy(policy)),
        'policy-domain': domain,
      },
      summary: {
        'total-successful-session-count': count.success,
        'total-failure-session-count': count.failed,
      },
      'failure-details': count.failures.map(({ type, host, sessions }) => ({
        'result-type': type,
        ...(host !== '' && { 'receiving-mx-hostname': host }),
        'failed-session-count': sessions,
      })),
    })),
  };
}

/** Section 4.4: the policy's lines and the hosts it names. */
function describePolicy({ mode, mx, maxAge }: StsPolicy) {
  const lines = ['version: STSv1', `mode: ${mode}`, ...mx.map((host) => `mx: ${host}`)];
  return { 'policy-string': [...lines, `max_age: ${maxAge}`], 'mx-host': mx };
}
