import { isIP } from 'node:net';
import { PublicNetworks } from '../foundation/network/public-networks.ts';

/** SPF domains of relays whose mail doesn't leave from the host that accepts it, by the end of that host's name. */
const spfDomains: Readonly<Record<string, string>> = {
  'amazonaws.com': 'amazonses.com',
  'brevo.com': 'spf.brevo.com',
  'elasticemail.com': '_spf.elasticemail.com',
  'gmail.com': '_spf.google.com',
  'mailersend.net': '_spf.mailersend.net',
  'mailgun.org': 'mailgun.org',
  'mailjet.com': 'spf.mailjet.com',
  'mandrillapp.com': 'spf.mandrillapp.com',
  'office365.com': 'spf.protection.outlook.com',
  'outlook.com': 'spf.protection.outlook.com',
  'postmarkapp.com': 'spf.mtasv.net',
  'resend.com': 'amazonses.com',
  'sendgrid.net': 'sendgrid.net',
  'smtp2go.com': 'spf.smtp2go.com',
  'sparkpostmail.com': '_spf.sparkpostmail.com',
};

const publicNetworks = new PublicNetworks([]);

/**
 * The SPF mechanism that allows a relay to send: the one that a known provider documents, or else the relay's own address.
 * Undefined for a relay in a private network, which public DNS can't name.
 */
export function relayMechanism(relay: string): string | undefined {
  const version = isIP(relay);
  if (version !== 0) return publicNetworks.allows(relay) ? `ip${version}:${relay}` : undefined;
  const found = Object.entries(spfDomains).find(([end]) => relay.endsWith(`.${end}`));
  if (found !== undefined) return `include:${found[1]}`;
  const isPrivateName = !relay.includes('.') || /\.(?:local|localhost|internal|lan)$/.test(relay);
  return isPrivateName ? undefined : `a:${relay}`;
}
