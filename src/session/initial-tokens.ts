import type { TokenMint } from '../access/token-mint.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId, ClientId, PersonId } from '../foundation/ids.ts';
import type { TokenPair } from './grants/grant.ts';
import { InvalidGrant, SlowDown } from './oauth-errors.ts';
import { issueTokens, secondsUntilAllowed } from './tokens-store.ts';

export interface InitialTokensDependencies {
  readonly database: Database;
  readonly mint: TokenMint;
}

/** The person and credentials of a verified grant. */
export interface ProvenGrant {
  readonly personId: PersonId;
  readonly clientId: ClientId;
  readonly accountId: AccountId | undefined;
  /** The hash that the password matched, if one was used. */
  readonly passwordHash: string | undefined;
  /** The consumed code, if one was used. */
  readonly codeHash: Buffer | undefined;
}

/**
 * Issues tokens for an initial token request within the allowance.
 * @throws SlowDown if the allowance is used up, InvalidGrant if the person changed in the meantime
 */
export async function issueInitialTokens(
  { database, mint }: InitialTokensDependencies,
  proven: ProvenGrant,
  executor = database.kysely,
): Promise<TokenPair> {
  const [access, refresh] = [mint.mint('access'), mint.mint('refresh')];
  const issue = () =>
    issueTokens(executor, { ...proven, accessHash: access.hash, refreshHash: refresh.hash });
  const tokens = { accessToken: access.text, refreshToken: refresh.text };
  if (await issue()) return tokens;
  const seconds = await secondsUntilAllowed(executor, proven);
  // A request may have left the hour since.
  if (seconds === undefined && (await issue())) return tokens;
  if (seconds === undefined)
    throw new InvalidGrant('The grant is not valid', {
      cause: 'the person changed in the meantime',
    });
  throw new SlowDown(
    'No initial token requests are left for this hour; use the refresh token instead',
    seconds,
  );
}
