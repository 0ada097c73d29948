import { isIP } from 'node:net';
import { PublicNetworks } from '../../base/network/public-networks.ts';
import { domainOf, type EmailAddress } from '../../base/values/email-address.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { DomainDirectory } from './sender-directory.ts';
import type { ServiceNames } from './sending-domain.ts';

/** Settings that determine the names of this installation. */
export interface NameSettings {
  readonly delivery: 'inbox' | 'relay' | 'direct';
  readonly hostname: string | undefined;
  readonly smtpUrl: string | undefined;
  readonly bounceServer: object | undefined;
  readonly direct: { readonly sources: readonly { readonly address: string | undefined }[] };
  readonly publicUrl: string | undefined;
}

/** The names and addresses used in the records of sending domains. */
export function serviceNames(settings: NameSettings): ServiceNames {
  const { delivery, publicUrl, bounceServer } = settings;
  // A name without a dot, such as a container's, means nothing in public DNS.
  const host = settings.hostname?.includes('.') === true ? settings.hostname : undefined;
  return {
    delivery,
    host,
    spfMechanisms: [...new Set(mechanismsOf(settings, host))],
    recordsElsewhere:
      delivery === 'relay' ? relaysOf(settings).flatMap((relay) => ownRecordsOf(relay) ?? []) : [],
    usesReturnPath: delivery !== 'relay' || bounceServer !== undefined,
    trackingTarget: publicUrl === undefined ? undefined : new URL(publicUrl).hostname,
  };
}

function mechanismsOf(settings: NameSettings, host: string | undefined): string[] {
  const own = host === undefined ? [] : [`a:${host}`];
  if (settings.delivery === 'relay')
    return relaysOf(settings)
      .filter((relay) => ownRecordsOf(relay) === undefined)
      .flatMap((relay) => relayMechanism(relay) ?? own);
  const addresses = settings.direct.sources.flatMap(({ address }) => address ?? []);
  if (addresses.length === 0) return own;
  return addresses.map((address) => `${isIP(address) === 6 ? 'ip6' : 'ip4'}:${address}`);
}

/** The hosts of the relays. */
function relaysOf({ smtpUrl = '' }: NameSettings): string[] {
  return smtpUrl
    .split(/\s+/)
    .map((url) => (URL.parse(url)?.hostname ?? '').replace(/^\[|\]$/g, ''));
}

/** Where a relay shows the records of a domain, if only it knows them. */
function ownRecordsOf(relay: string): string | undefined {
  return Object.entries(ownRecords).find(([end]) => relay.endsWith(`.${end}`))?.[1];
}

/** A missing setting without which records or links don't work. */
interface NameProblem {
  readonly setting: string;
  readonly sentence: string;
  readonly nextStep: string;
}

/** Settings missing for a domain's records and links, most important first. */
export function findNameProblems(service: ServiceNames): NameProblem[] {
  const { delivery, host, spfMechanisms, recordsElsewhere, usesReturnPath, trackingTarget } =
    service;
  if (delivery === 'inbox')
    return [
      {
        setting: 'DELIVERY',
        sentence:
          'Signalpost isn’t sending to the internet yet. To send, set SMTP_URL or DELIVERY=direct.',
        nextStep:
          host === undefined
            ? 'Publish DKIM and DMARC now.'
            : 'Publish DKIM and DMARC now, and the return path records after that.',
      },
    ];
  const problems: NameProblem[] = recordsElsewhere.map((place) => ({
    setting: 'SMTP_URL',
    sentence: 'Your relay has CNAME records for each domain in place of an SPF record.',
    nextStep: `Add the domain at ${place}, and publish the records that you get there.`,
  }));
  const knowsSenders = spfMechanisms.length > 0 || recordsElsewhere.length > 0;
  if (host === undefined && (usesReturnPath || !knowsSenders))
    problems.push({
      setting: 'SMTP_HOSTNAME',
      sentence: 'SMTP_HOSTNAME isn’t set, so the records that name this mail server are missing.',
      nextStep: 'Set it to the server’s name in DNS, such as mail.example.com, and restart.',
    });
  if (trackingTarget === undefined)
    problems.push({
      setting: 'PUBLIC_URL',
      sentence: 'PUBLIC_URL isn’t set, so links in your mail work only on this machine.',
      nextStep: 'Set it to the public address, such as https://mail.example.com, and restart.',
    });
  return problems;
}

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
  'sparkpostmail.com': '_spf.sparkpostmail.com',
};

/** Relays that show each domain CNAME records of its own, which lead to their SPF record too, and where. */
const ownRecords: Readonly<Record<string, string>> = {
  'smtp2go.com': 'SMTP2GO, under Verified Senders',
};

const publicNetworks = new PublicNetworks([]);

/**
 * The SPF mechanism that allows a relay to send: the one documented by a known provider, or else the relay's own
 * address. Undefined for a relay in a private network, which public DNS can't name.
 */
function relayMechanism(relay: string): string | undefined {
  const version = isIP(relay);
  if (version !== 0) return publicNetworks.allows(relay) ? `ip${version}:${relay}` : undefined;
  const found = Object.entries(spfDomains).find(([end]) => relay.endsWith(`.${end}`));
  if (found !== undefined) return `include:${found[1]}`;
  const isPrivateName = !relay.includes('.') || /\.(?:local|localhost|internal|lan)$/.test(relay);
  return isPrivateName ? undefined : `a:${relay}`;
}

/** A host whose mail this service receives, or how to set one up. */
type ReplyHost = { readonly host: string } | { readonly problem: string };

/** Finds the reply host for mail from an address. */
export type FindReplyHost = (accountId: AccountId, from: EmailAddress) => Promise<ReplyHost>;

/**
 * Replies go to the host that receives the sending domain's bounces. In inbox mode, no mail leaves this machine, so no
 * setup is needed.
 */
export function replyHostFinder(
  settings: NameSettings,
  domains: Pick<DomainDirectory, 'find'>,
): FindReplyHost {
  const { delivery, host } = serviceNames(settings);
  return async (accountId, from) => {
    const name = domainOf(from);
    const domain = await domains.find(accountId, name);
    if (delivery === 'inbox') return { host: domain?.returnPath ?? `bounces.${name}` };
    if (settings.bounceServer === undefined)
      return { problem: 'needs a server for incoming mail; set BOUNCE_PORT and restart' };
    if (host === undefined)
      return { problem: 'needs the name of this mail server; set SMTP_HOSTNAME and restart' };
    if (domain === undefined)
      return { problem: `needs ${name} as a sending domain; add it and publish its DNS records` };
    if (domain.state !== 'verified')
      return {
        problem: `needs the DNS records of ${domain.domain}, which are missing or wrong; publish them`,
      };
    return { host: domain.returnPath };
  };
}
