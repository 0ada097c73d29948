import type { FastifyRequest } from 'fastify';
import type { Membership } from '../account/account.ts';
import type { PersonId } from '../foundation/ids.ts';
import type { Caller } from '../session/caller.ts';
import type { MayRead } from './guard-inbox.ts';

type Soon<Value> = Value | Promise<Value>;

export interface MayReadParts {
  readonly tokens: { authenticate(authorization: string | undefined): Soon<Caller | undefined> };
  readonly browser: {
    personOf(request: FastifyRequest): Promise<{ readonly personId: PersonId } | undefined>;
  };
  readonly accounts: { memberships(personId: PersonId): Soon<readonly Membership[]> };
}

const readers: ReadonlySet<string> = new Set(['owner', 'developer']);

/**
 * Owners and developers may read: those whose access token the request carries, in an account that the token acts for,
 * and those who are signed in with the browser.
 */
export function mayReadInbox({ tokens, browser, accounts }: MayReadParts): MayRead {
  return async (request) => {
    const caller = await tokens.authenticate(request.headers.authorization);
    const reader = caller ?? (await browser.personOf(request));
    if (reader === undefined) return false;
    const memberships = await accounts.memberships(reader.personId);
    const bound = caller?.accountId;
    return memberships.some(
      ({ accountId, role }) => readers.has(role) && (bound === undefined || bound === accountId),
    );
  };
}
