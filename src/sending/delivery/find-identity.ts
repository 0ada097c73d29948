import type { DomainDirectory, SigningDomain } from '../../accounts/sender/sender-directory.ts';
import { domainOf, type EmailAddress } from '../../base/values/email-address.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';
import { signMessage } from '../signing/sign-message.ts';
import type { ReturnPaths } from './return-path.ts';
import { quotaDelayMs } from './warm-up/warm-up-plan.ts';
import type { WarmUps } from './warm-up/warm-ups.ts';

/** How a message identifies itself to other servers: signatures, return path and source addresses. */
export interface SendingIdentity {
  /** Prepends signatures. The result is the same on every attempt as long as the keys don't change. */
  sign(raw: Buffer, acceptedAt: Date): Buffer;
  /**
   * Address for MAIL FROM.
   */
  returnPath(messageId: MessageId, recipient: number): string;
  /** The source address pool. */
  readonly pool?: string | undefined;
  /** Returns the recipient to the daily limit, if no server was reached. */
  release?(): void;
}

/** Why mail can't be sent now, and how long to wait before rechecking. */
export interface IdentityProblem {
  readonly problem: string;
  readonly delayMs?: number;
}

/** Finds the identity for a From address, or why its mail can't be sent now. */
export type FindIdentity = (
  accountId: AccountId,
  from: EmailAddress,
) => Promise<SendingIdentity | IdentityProblem>;

export type SigningDomainLookup = Pick<DomainDirectory, 'find'>;

/**
 * For relays and the inbox: signed if the domain has keys. Bounces go to the sender's address, or to
 * the return path of a configured domain if `paths` is given.
 */
export function findRelayIdentity(domains: SigningDomainLookup, paths?: ReturnPaths): FindIdentity {
  return async (accountId, from) => {
    const domain = await domains.find(accountId, domainOf(from));
    return {
      sign: (raw, signedAt) => signMessage(raw, domain?.keys ?? [], { signedAt }),
      returnPath: (messageId, recipient) =>
        paths === undefined || domain?.state !== 'verified'
          ? from
          : paths.make({ accountId, messageId, recipient }, domain.returnPath),
    };
  };
}

/**
 * For test messages, which stay here. They can be from any address, so they aren't signed: whoever reads the inbox could send a
 * signed one on.
 */
export const findTestIdentity: FindIdentity = async (_accountId, from) => ({
  sign: (raw) => raw,
  returnPath: () => from,
});

/**
 * For direct delivery: mail is signed by a configured domain, has its own return path and stays within the domain's
 * warm-up limit. Otherwise the message waits, with a reason.
 */
export function findDirectIdentity(
  domains: SigningDomainLookup,
  paths: ReturnPaths,
  warmUps: WarmUps,
): FindIdentity {
  return async (accountId, from) => {
    const name = domainOf(from);
    const domain = await domains.find(accountId, name);
    const problem = problemOf(name, domain);
    if (domain === undefined || problem !== undefined) return { problem: problem ?? '' };
    const subject = `domain:${accountId}/${domain.domain}`;
    const { warmUp } = domain;
    if (warmUp !== undefined && !(await warmUps.consume(subject, warmUp)))
      return {
        problem: `${domain.domain} is warming up and has reached today’s limit`,
        delayMs: quotaDelayMs(Date.now(), Math.random()),
      };
    return {
      pool: domain.sourcePool,
      sign: (raw, signedAt) => signMessage(raw, domain.keys, { signedAt }),
      release: () => {
        if (warmUp !== undefined) warmUps.giveBack(subject);
      },
      returnPath: (messageId, recipient) =>
        paths.make({ accountId, messageId, recipient }, domain.returnPath),
    } satisfies SendingIdentity;
  };
}

function problemOf(name: string, domain: SigningDomain | undefined): string | undefined {
  if (domain === undefined)
    return `${name} isn’t a sending domain of the account, so its mail can’t be signed`;
  if (domain.state === 'pending' || domain.keys.length === 0)
    return `the DNS records of ${domain.domain} aren’t published yet, so its mail can’t be signed`;
  if (domain.state === 'broken')
    return `the DNS records of ${domain.domain} have been wrong since ${domain.stateAt.toISOString().slice(0, 16)}Z`;
  return undefined;
}
