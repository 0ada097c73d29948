import { TokenMint } from './access/token-mint.ts';
import { Invitations } from './invitation/invitations.ts';
import { EndSessionsLinks } from './notices/mailed-links.ts';
import { ClientAuthenticator } from './oauth/authenticate-client.ts';
import { BrowserSessions } from './sign-in/browser/browser-sessions.ts';
import { KnownDevices } from './sign-in/browser/known-devices.ts';
import { PageDoor } from './sign-in/browser/page-door.ts';
import { LoginThrottle } from './sign-in/login-throttle.ts';
import { Passkeys } from './sign-in/passkey/passkeys.ts';
import { PasswordAuthenticator, PasswordChecker } from './sign-in/password-checker.ts';
import { PasswordLinks } from './sign-in/password-links.ts';
import { RecoveryCodes } from './sign-in/recovery-codes.ts';
import { SecondFactors } from './sign-in/second-factor.ts';
import type { SessionModuleDependencies } from './sign-in/session-dependencies.ts';
import { SignInNotices } from './sign-in/sign-in-notices.ts';
import { ProviderClient } from './sign-in/single-sign-on/provider-client.ts';
import { SignInFlows } from './sign-in/single-sign-on/sign-in-flows.ts';
import { SignInProviders } from './sign-in/single-sign-on/sign-in-providers.ts';
import { WrongGuessStore } from './sign-in/wrong-guess-store.ts';

/** What the routes and grants share. */
export type SessionContext = ReturnType<typeof createSessionContext>;

export function createSessionContext(dependencies: SessionModuleDependencies) {
  const { database, key, clock } = dependencies;
  const throttle = new LoginThrottle(new WrongGuessStore(database), key, clock);
  const passwords = new PasswordChecker(dependencies.processes, dependencies.passwordMemory);
  const browser = new BrowserSessions(dependencies);
  return {
    ...dependencies,
    mint: new TokenMint(key),
    clients: new ClientAuthenticator(dependencies),
    throttle,
    passwords,
    passwordAuthenticator: new PasswordAuthenticator(dependencies, passwords, throttle),
    secondFactors: new SecondFactors(dependencies, throttle),
    recoveryCodes: new RecoveryCodes(dependencies, throttle),
    passkeys: new Passkeys(dependencies),
    browser,
    devices: new KnownDevices(database, browser),
    door: new PageDoor(browser, dependencies),
    notices: new SignInNotices(dependencies),
    links: new PasswordLinks(dependencies, passwords),
    endSessionsLinks: new EndSessionsLinks(key, clock),
    invitations: new Invitations(dependencies, passwords),
    providers: new SignInProviders(dependencies),
    providerClient: new ProviderClient(dependencies),
    flows: new SignInFlows(dependencies, browser),
  };
}
