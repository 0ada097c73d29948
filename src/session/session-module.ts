import type { AccessFacts } from '../access/authorize.ts';
import { TokenMint } from '../access/token-mint.ts';
import type { Person } from '../account/account.ts';
import { belongsOnlyTo } from '../account/membership-store.ts';
import { findPersonByEmail, hasOperatorRole, renewPasswordHash } from '../account/person-store.ts';
import { AuditStore } from '../audit/audit-store.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { HostNames } from '../foundation/dns/host-names.ts';
import type { Log } from '../foundation/log.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import { PublicNetworks } from '../foundation/network/public-networks.ts';
import type { Http } from '../http/create-http.ts';
import { EndSessionsLinks, MailedLinks } from '../outbox/mailed-links.ts';
import { ClientAuthenticator, ClientSecretHasher } from './authenticate-client.ts';
import { registerAuthorizeRoutes } from './authorize/authorize-routes.ts';
import { ConsentStore } from './authorize/consent-store.ts';
import { BrowserSessionStore } from './browser/browser-session-store.ts';
import { BrowserSessions } from './browser/browser-sessions.ts';
import { KnownDevices } from './browser/known-devices.ts';
import { PageDoor } from './browser/page-door.ts';
import { SignInNotices } from './complete-sign-in.ts';
import { registerConfirmRoutes } from './confirm/confirm-routes.ts';
import { registerEndSessionsRoutes } from './end-sessions-routes.ts';
import { ExpiredRowCleaner } from './expired-row-cleaner.ts';
import { CodeGrant, PasswordGrant, RefreshGrant } from './grants.ts';
import { renewSecretHash } from './integration-control-store.ts';
import type { IntegrationDirectory } from './integration-directory.ts';
import { registerInvitationRoutes } from './invitation/invitation-routes.ts';
import { Invitations } from './invitation/invitations.ts';
import { LoginThrottle } from './login-throttle.ts';
import { registerChangePasswordRoutes, registerMeRoutes } from './me/me-routes.ts';
import { registerMyPasskeysRoutes } from './me/my-passkeys-routes.ts';
import { registerMyProvidersRoutes } from './me/my-providers-routes.ts';
import { registerSecondFactorRoutes } from './me/second-factor-routes.ts';
import { PasswordLinkStore } from './one-time-link-store.ts';
import { registerOwnTokensRoutes } from './own-tokens-routes.ts';
import { PasskeyStore } from './passkey/passkey-store.ts';
import { Passkeys } from './passkey/passkeys.ts';
import { registerSignInPasskeyRoutes } from './passkey/sign-in-passkey-routes.ts';
import { PasswordAuthenticator, PasswordChecker } from './password-checker.ts';
import { registerPasswordLinkRoutes } from './password-link-routes.ts';
import { PasswordLinks } from './password-links.ts';
import { RecoveryCodes } from './recovery-codes.ts';
import { registerPages } from './register-pages.ts';
import { SecondFactors } from './second-factor.ts';
import { RecoveryCodeStore, SecondFactorStore } from './second-factor-store.ts';
import type { SessionContext } from './session-context.ts';
import { registerSignInCodeRoutes } from './sign-in-code-routes.ts';
import { registerSignInRoutes } from './sign-in-routes.ts';
import { AccountProviderStore, mustUseProvider } from './single-sign-on/account-provider-store.ts';
import { ProviderClient } from './single-sign-on/provider-client.ts';
import { SignInFlows } from './single-sign-on/sign-in-flows.ts';
import { registerSignInOidcRoutes } from './single-sign-on/sign-in-oidc-routes.ts';
import type { SignInProvider } from './single-sign-on/sign-in-provider.ts';
import { SignInProviders } from './single-sign-on/sign-in-providers.ts';
import { registerMetadataRoutes, registerTokenRoutes, TokenEndpoint } from './token-routes.ts';
import { RefreshTokenStore } from './tokens-store.ts';
import { WrongGuessStore } from './wrong-guess-store.ts';

export interface SessionModuleDependencies {
  readonly database: Database;
  readonly key: MasterKey;
  readonly clock: Clock;
  readonly log: Log;
  readonly integrations: IntegrationDirectory;
  /** What decisions about access need. */
  readonly facts: AccessFacts;
  /** The public base URL; a function, since a free port is known only after listening. */
  readonly publicUrl: () => string;
  /** Whether system mail is sent: password links, invitations. */
  readonly systemMailEnabled: boolean;
  /** Number of processes that share the node's cores, including this one; one by default. */
  readonly processes: number | undefined;
  /** Days that the audit log is kept; 0: forever. */
  readonly auditDays: number;
  /** Hours after which an unused browser session ends. */
  readonly sessionIdleHours: number;
  /** Memory for hashing a password, in MiB. */
  readonly passwordMemory: number;
  /** The installation's provider of OpenID Connect; undefined: none. */
  readonly signInProvider: SignInProvider | undefined;
  /** Private networks in which accounts' providers are allowed. */
  readonly providerNetworks: readonly string[];
  readonly hostNames: HostNames;
}

/** Session authentication for the rest of the service. */
export interface SessionModule {
  /** Identifies the person signed in with a browser. */
  readonly browser: BrowserSessions;
  /** Invites people into accounts. */
  readonly invitations: Invitations;
  registerRoutes(http: Http): void;
  start(): void;
  stop(): Promise<void>;
}

export function createSessionModule(dependencies: SessionModuleDependencies): SessionModule {
  const { database, key, clock, log, facts, integrations, publicUrl } = dependencies;
  const mint = new TokenMint(key);
  const audit = new AuditStore(database);
  const throttle = new LoginThrottle(new WrongGuessStore(database), key, clock);
  const passwords = new PasswordChecker(dependencies.processes, dependencies.passwordMemory);
  const clients = new ClientAuthenticator(
    integrations,
    new ClientSecretHasher(key),
    audit,
    clock,
    (clientId, from, to) => renewSecretHash(database.kysely, clientId, from, to),
  );
  const findPerson = (email: string) => findPersonByEmail(database.kysely, email);
  const needsProvider = ({ id }: Pick<Person, 'id'>) =>
    mustUseProvider(database.kysely, id, facts.provider);
  const passwordAuthenticator = new PasswordAuthenticator({
    findPerson,
    passwords,
    throttle,
    belongsOnlyTo: ({ id }, accountId) => belongsOnlyTo(database.kysely, id, accountId),
    mustUseProvider: needsProvider,
    renewHash: (person, renewed) => renewPasswordHash(database.kysely, person, renewed),
  });
  const secondFactors = new SecondFactors({
    store: new SecondFactorStore(database),
    throttle,
    key,
    clock,
  });
  const recoveryCodes = new RecoveryCodes({
    store: new RecoveryCodeStore(database),
    throttle,
    key,
  });
  const passkeys = new Passkeys({
    store: new PasskeyStore(database),
    key,
    clock,
    publicUrl,
    isOperator: (id) => hasOperatorRole(database.kysely, id),
  });
  const cleaner = new ExpiredRowCleaner(database, log, dependencies.auditDays);
  const sessions = new BrowserSessionStore(database);
  const idleSeconds = dependencies.sessionIdleHours * 3_600;
  const browser = new BrowserSessions({ store: sessions, key, publicUrl, idleSeconds });
  const devices = new KnownDevices({ browser, database });
  const door = new PageDoor(browser, facts);
  const notices = new SignInNotices(database, clock, log);
  const links = new PasswordLinks({
    database,
    store: new PasswordLinkStore(database),
    mint,
    passwords,
    audit,
    log,
    findPerson,
    mailedLinks: new MailedLinks(key),
    mailEnabled: dependencies.systemMailEnabled,
  });
  const mailEnabled = dependencies.systemMailEnabled;
  const invitations = new Invitations({ database, key, passwords, mailEnabled });
  const providers = new SignInProviders({
    database,
    store: new AccountProviderStore(key),
    installation: dependencies.signInProvider,
  });
  const providerClient = new ProviderClient({
    clock,
    networks: new PublicNetworks(dependencies.providerNetworks),
    hostNames: dependencies.hostNames,
  });
  const flows = new SignInFlows({ browser, key, clock, publicUrl });
  const context: SessionContext = {
    database,
    clock,
    log,
    facts,
    publicUrl,
    mint,
    audit,
    clients,
    findIntegration: (clientId) => integrations.integration(clientId),
    throttle,
    passwords,
    passwordAuthenticator,
    secondFactors,
    recoveryCodes,
    passkeys,
    sessions,
    browser,
    devices,
    door,
    notices,
    links,
    endSessionsLinks: new EndSessionsLinks(key, clock),
    invitations,
    consents: new ConsentStore(database),
    providers,
    providerClient,
    flows,
    mustUseProvider: needsProvider,
  };
  const endpoint = new TokenEndpoint(clients, [
    new PasswordGrant(context),
    new CodeGrant(context),
    new RefreshGrant({ store: new RefreshTokenStore(database), mint, audit }),
  ]);
  return {
    browser,
    invitations,
    registerRoutes(http) {
      registerTokenRoutes(http, endpoint);
      registerOwnTokensRoutes(http, context);
      registerMetadataRoutes(http, publicUrl);
      registerPages(http, (scope) => {
        registerSignInRoutes(scope, context);
        registerSignInCodeRoutes(scope, context);
        registerSignInPasskeyRoutes(scope, context);
        registerEndSessionsRoutes(scope, context);
        registerSignInOidcRoutes(scope, context);
        registerConfirmRoutes(scope, context);
        registerAuthorizeRoutes(scope, context);
        registerPasswordLinkRoutes(scope, context);
        registerInvitationRoutes(scope, context);
        registerMeRoutes(scope, context);
        registerMyProvidersRoutes(scope, context);
        registerMyPasskeysRoutes(scope, context);
        registerChangePasswordRoutes(scope, context);
        registerSecondFactorRoutes(scope, context);
      });
    },
    start: () => cleaner.start(),
    async stop() {
      await links.drain();
      await notices.drain();
      await cleaner.stop();
    },
  };
}
