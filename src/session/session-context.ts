import type { AccessFacts } from '../access/authorize.ts';
import type { TokenMint } from '../access/token-mint.ts';
import type { Person } from '../account/account.ts';
import type { AuditStore } from '../audit/audit-store.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import type { EndSessionsLinks } from '../outbox/mailed-links.ts';
import type { ClientAuthenticator } from './authenticate-client.ts';
import type { ConsentStore } from './authorize/consent-store.ts';
import type { BrowserSessionStore } from './browser/browser-session-store.ts';
import type { BrowserSessions } from './browser/browser-sessions.ts';
import type { KnownDevices } from './browser/known-devices.ts';
import type { PageDoor } from './browser/page-door.ts';
import type { SignInNotices } from './complete-sign-in.ts';
import type { FindIntegration } from './integration-store.ts';
import type { Invitations } from './invitation/invitations.ts';
import type { LoginThrottle } from './login-throttle.ts';
import type { Passkeys } from './passkey/passkeys.ts';
import type { PasswordAuthenticator, PasswordChecker } from './password-checker.ts';
import type { PasswordLinks } from './password-links.ts';
import type { RecoveryCodes } from './recovery-codes.ts';
import type { SecondFactors } from './second-factor.ts';
import type { ProviderClient } from './single-sign-on/provider-client.ts';
import type { SignInFlows } from './single-sign-on/sign-in-flows.ts';
import type { SignInProviders } from './single-sign-on/sign-in-providers.ts';

/** What the routes and grants share. */
export interface SessionContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** What decisions about access need. */
  readonly facts: AccessFacts;
  /** The public base URL, which identifies the issuer (RFC 9207, RFC 8414). */
  readonly publicUrl: () => string;
  readonly mint: TokenMint;
  readonly audit: AuditStore;
  readonly clients: ClientAuthenticator;
  readonly findIntegration: FindIntegration;
  readonly throttle: LoginThrottle;
  readonly passwords: PasswordChecker;
  readonly passwordAuthenticator: PasswordAuthenticator;
  readonly secondFactors: SecondFactors;
  readonly recoveryCodes: RecoveryCodes;
  readonly passkeys: Passkeys;
  readonly sessions: BrowserSessionStore;
  readonly browser: BrowserSessions;
  readonly devices: KnownDevices;
  readonly door: PageDoor;
  readonly notices: SignInNotices;
  readonly links: PasswordLinks;
  readonly endSessionsLinks: EndSessionsLinks;
  readonly invitations: Invitations;
  readonly consents: ConsentStore;
  readonly providers: SignInProviders;
  readonly providerClient: ProviderClient;
  readonly flows: SignInFlows;
  /** Whether a person has to sign in with a provider. */
  readonly mustUseProvider: (person: Pick<Person, 'id'>) => Promise<boolean>;
}
