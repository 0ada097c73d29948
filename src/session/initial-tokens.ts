import type { TokenMint } from '../access/token-mint.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, ClientId, PersonId } from '../foundation/ids.ts';
import type { TokenPair } from './grants/grant.ts';
import { issueTokens, secondsUntilAllowed } from './issue-tokens-store.ts';
import { InvalidGrant, SlowDown } from './oauth-errors.ts';

export interface InitialTokensDependencies {
  readonly database: Database;
  readonly mint: TokenMint;
}

/** Whose grant was proven. */
export interface ProvenGrant {
  readonly personId: PersonId;
  readonly clientId: ClientId;
  readonly accountId: AccountId | undefined;
  /** The hash that the password matched, where one was used. */
  readonly passwordHash: string | undefined;
  /** The code that is spent, where one was used. */
  readonly codeHash: Buffer | undefined;
}

/**
 * Issues tokens for an initial token request within the allowance.
 * @throws SlowDown where the allowance is used up, InvalidGrant where the person changed meanwhile
 */
export async function issueInitialTokens(
  { database, mint }: InitialTokensDependencies,
  proven: ProvenGrant,
  executor = database.kysely,
): Promise<TokenPair> {
  const [access, refresh] = [mint.mint('access'), mint.mint('refresh')];
  const issued = await issueTokens(executor, {
    ...proven,
    accessHash: access.hash,
    refreshHash: refresh.hash,
  });
  if (issued) return { accessToken: access.text, refreshToken: refresh.text };
  const seconds = await secondsUntilAllowed(executor, proven);
  if (seconds === undefined)
    throw new InvalidGrant('The grant is not valid', { cause: 'the person changed meanwhile' });
  throw new SlowDown(
    'The initial token requests of this hour are used up; use the refresh token instead',
    seconds,
  );
}
