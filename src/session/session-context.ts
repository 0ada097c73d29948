import { TokenMint } from '../access/token-mint.ts';
import { EndSessionsLinks } from '../outbox/mailed-links.ts';
import { ClientAuthenticator } from './authenticate-client.ts';
import { BrowserSessions } from './browser/browser-sessions.ts';
import { KnownDevices } from './browser/known-devices.ts';
import { PageDoor } from './browser/page-door.ts';
import { Invitations } from './invitation/invitations.ts';
import { LoginThrottle } from './login-throttle.ts';
import { Passkeys } from './passkey/passkeys.ts';
import { PasswordAuthenticator, PasswordChecker } from './password-checker.ts';
import { PasswordLinks } from './password-links.ts';
import { RecoveryCodes } from './recovery-codes.ts';
import { SecondFactors } from './second-factor.ts';
import type { SessionModuleDependencies } from './session-dependencies.ts';
import { SignInNotices } from './sign-in-notices.ts';
import { ProviderClient } from './single-sign-on/provider-client.ts';
import { SignInFlows } from './single-sign-on/sign-in-flows.ts';
import { SignInProviders } from './single-sign-on/sign-in-providers.ts';
import { WrongGuessStore } from './wrong-guess-store.ts';

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
