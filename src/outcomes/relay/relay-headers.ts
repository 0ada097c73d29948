import { readSmtpServers } from '../../sending/delivery/smtp-server-settings.ts';
import { tokenHeader, tokenName } from './delivery-tokens.ts';
import type { IntakeSecrets } from './intake-routes.ts';

/** A relay whose reports the service reads. */
interface ReportingRelay {
  readonly hosts: RegExp;
  readonly isConfigured: (intake: IntakeSecrets) => boolean;
  readonly header: (token: string) => string;
}

const reportingRelays: readonly ReportingRelay[] = [
  {
    hosts: /(^|\.)amazonaws\.com(\.cn)?$/,
    isConfigured: ({ snsTopics }) => snsTopics.length > 0,
    header: (token) => `${tokenHeader}: ${token}`,
  },
  {
    hosts: /(^|\.)postmarkapp\.com$/,
    isConfigured: ({ postmarkPassword }) => postmarkPassword !== undefined,
    header: (token) => `X-PM-Metadata-${tokenName}: ${token}`,
  },
  {
    hosts: /(^|\.)mailgun\.org$/,
    isConfigured: ({ mailgunKey }) => mailgunKey !== undefined,
    header: (token) => `X-Mailgun-Variables: ${JSON.stringify({ [tokenName]: token })}`,
  },
  {
    hosts: /(^|\.)sendgrid\.(net|com)$/,
    isConfigured: ({ sendgridKey }) => sendgridKey !== undefined,
    header: (token) => `X-SMTPAPI: ${JSON.stringify({ unique_args: { [tokenName]: token } })}`,
  },
];

/**
 * Chooses the headers by which relays return a delivery's token: for those whose reports are configured, and those that SMTP_URL
 * names, because their reports may be configured after mail was sent.
 */
export function relayHeaders(
  smtpUrl: string | undefined,
  intake: IntakeSecrets,
): (token: string) => string[] {
  const hosts = smtpUrl === undefined ? [] : readSmtpServers(smtpUrl).map(({ host }) => host);
  const relays = reportingRelays.filter(
    (relay) => relay.isConfigured(intake) || hosts.some((host) => relay.hosts.test(host)),
  );
  return (token) => relays.map(({ header }) => header(token));
}
