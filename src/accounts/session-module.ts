import type { Http } from '../host/http/create-http.ts';
import { registerInvitationRoutes } from './invitation/invitation-routes.ts';
import { registerChangePasswordRoutes, registerMeRoutes } from './me/me-routes.ts';
import { registerMyPasskeysRoutes } from './me/my-passkeys-routes.ts';
import { registerMyProvidersRoutes } from './me/my-providers-routes.ts';
import { registerOwnTokensRoutes } from './me/own-tokens-routes.ts';
import { registerSecondFactorRoutes } from './me/second-factor-routes.ts';
import { registerAuthorizeRoutes } from './oauth/authorize-routes.ts';
import { registerMetadataRoutes, registerTokenRoutes } from './oauth/token-routes.ts';
import { registerPages } from './register-pages.ts';
import { createSessionContext } from './session-context.ts';
import { registerConfirmRoutes } from './sign-in/confirm/confirm-routes.ts';
import { registerEndSessionsRoutes } from './sign-in/end-sessions-routes.ts';
import { ExpiredRowCleaner } from './sign-in/expired-row-cleaner.ts';
import { registerSignInPasskeyRoutes } from './sign-in/passkey/sign-in-passkey-routes.ts';
import { registerPasswordLinkRoutes } from './sign-in/password-link-routes.ts';
import type { SessionModuleDependencies } from './sign-in/session-dependencies.ts';
import { registerSignInCodeRoutes } from './sign-in/sign-in-code-routes.ts';
import { registerSignInRoutes } from './sign-in/sign-in-routes.ts';
import { registerSignInOidcRoutes } from './sign-in/single-sign-on/sign-in-oidc-routes.ts';

const pageRoutes = [
  registerSignInRoutes,
  registerSignInCodeRoutes,
  registerSignInPasskeyRoutes,
  registerEndSessionsRoutes,
  registerSignInOidcRoutes,
  registerConfirmRoutes,
  registerAuthorizeRoutes,
  registerPasswordLinkRoutes,
  registerInvitationRoutes,
  registerMeRoutes,
  registerMyProvidersRoutes,
  registerMyPasskeysRoutes,
  registerChangePasswordRoutes,
  registerSecondFactorRoutes,
];

/** Session authentication for the rest of the service. */
export function createSessionModule(dependencies: SessionModuleDependencies) {
  const context = createSessionContext(dependencies);
  const { database, log, auditDays } = dependencies;
  const cleaner = new ExpiredRowCleaner(database, log, auditDays);
  return {
    /** Identifies the person signed in with a browser. */
    browser: context.browser,
    registerRoutes(http: Http): void {
      registerTokenRoutes(http, context);
      registerOwnTokensRoutes(http, context);
      registerMetadataRoutes(http, context.publicUrl);
      registerPages(http, (scope) => {
        for (const register of pageRoutes) register(scope, context);
      });
    },
    start: () => cleaner.start(),
    async stop(): Promise<void> {
      await context.links.drain();
      await context.notices.drain();
      await cleaner.stop();
    },
  };
}
