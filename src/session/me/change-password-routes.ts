import type { AuditStore } from '../../audit/audit-store.ts';
import type { Database } from '../../foundation/database/open-database.ts';
import type { Http } from '../../http/create-http.ts';
import type { BrowserSessions } from '../browser/browser-sessions.ts';
import type { PageDoor } from '../browser/page-door.ts';
import { changePassword, findPasswordProblem } from '../change-password.ts';
import { originOf } from '../form-body.ts';
import { seeOther, sendPage } from '../pages/layout.ts';
import { changePasswordPage } from '../pages/me-page.ts';
import type { PasswordAuthenticator } from '../password-authenticator.ts';
import type { PasswordChecker } from '../password-checker.ts';

export interface ChangePasswordDependencies {
  readonly database: Database;
  readonly browser: Pick<BrowserSessions, 'renew'>;
  readonly door: PageDoor;
  readonly passwordAuthenticator: PasswordAuthenticator;
  readonly passwords: PasswordChecker;
  readonly audit: AuditStore;
}

const rule = { access: 'full-reach' } as const;

/** `GET` and `POST /me/password`: changes the password and signs the person out everywhere else. The password alone
 * confirms nothing: this session stays what it was. */
export function registerChangePasswordRoutes(
  scope: Http,
  dependencies: ChangePasswordDependencies,
): void {
  const { browser, door, passwordAuthenticator, audit } = dependencies;

  door.page(scope, '/me/password', rule, async ({ reply, csrf, person }) =>
    sendPage(reply, changePasswordPage({ csrf, personal: [person.email, person.name] })),
  );

  door.form(scope, '/me/password', rule, async ({ request, reply, csrf, person, form }) => {
    const record = (outcome: 'success' | 'refused') =>
      audit.record({
        kind: 'password_changed',
        outcome,
        personId: person.personId,
        origin: originOf(request),
      });
    const next = form.get('new') ?? '';
    const personal = [person.email, person.name];
    const problem = await findPasswordProblem(next, personal);
    if (problem !== undefined)
      return sendPage(reply, changePasswordPage({ csrf, personal, error: problem, status: 422 }));
    const origin = { kind: 'session', remoteAddress: request.ip } as const;
    const result = await passwordAuthenticator.authenticate(
      person.email,
      form.get('password') ?? '',
      origin,
    );
    if (result.person === undefined) {
      await record('refused');
      const [status, error] = result.needsProvider
        ? [403, 'You sign in with a provider, so your password can’t be used or changed.']
        : [401, 'Incorrect current password.'];
      return sendPage(reply, changePasswordPage({ csrf, personal, error, status }));
    }
    await browser.renew(request, reply);
    await changePassword(dependencies, person, next);
    await record('success');
    return seeOther(reply, '/me?done=password');
  });
}
