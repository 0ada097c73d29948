import { domainOf, type EmailAddress } from '../foundation/email-address.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { DomainDirectory } from './domain-directory.ts';
import { type NameSettings, serviceNames } from './service-names.ts';

/** The host whose mail comes to this service, or what to do so that one has it. */
type ReplyHost = { readonly host: string } | { readonly problem: string };

/** Finds the host for the replies to mail from an address. */
export type FindReplyHost = (accountId: AccountId, from: EmailAddress) => Promise<ReplyHost>;

/**
 * Replies come to the host that receives the bounces of the sending domain. In the inbox mode, no mail leaves this machine, so
 * no setup is needed.
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
