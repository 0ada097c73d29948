import type { FastifyRequest } from 'fastify';
import { parseClientId } from '../../base/values/ids.ts';
import { browserTimeZone } from '../../host/http/browser-time-zone.ts';
import type { Http } from '../../host/http/create-http.ts';
import { isPersonFormats } from '../account/person-formats.ts';
import { readFormats, readLocale, saveFormats, saveLocale } from '../account/person-store.ts';
import { isLocale } from '../notices/system-mail.ts';
import { listReachedConsents, withdrawConsent } from '../oauth/consent-store.ts';
import type { SessionContext } from '../session-context.ts';
import {
  endOtherSessions,
  endSessionById,
  listBrowserSessions,
} from '../sign-in/browser/browser-session-store.ts';
import { changePassword, findPasswordProblem } from '../sign-in/change-password.ts';
import { seeOther, sendPage } from '../sign-in/pages/layout.ts';
import { changePasswordPage, mePage } from '../sign-in/pages/me-page.ts';
import { listPasskeys } from '../sign-in/passkey/passkey-store.ts';
import { listProviderIdentities } from '../sign-in/single-sign-on/provider-identity-store.ts';

/** Notices after an action; `?done=` selects one, so that no text comes from outside. */
const notices: Readonly<Record<string, string>> = {
  session: 'Browser signed out.',
  sessions: 'All other browsers signed out.',
  consent: 'Integration access revoked.',
  password: 'Password changed.',
  removed: 'Authenticator app removed.',
  authenticator: 'Authenticator app set up.',
  passkey: 'Passkey added.',
  renamed: 'Passkey renamed.',
  'passkey-removed': 'Passkey removed.',
  connected: 'Sign-in provider connected.',
  disconnected: 'Sign-in provider disconnected.',
  language: 'Language and formats saved.',
};

/**
 * `GET /me`: the person's browsers, consents, password, passkeys and second factor. `POST /me/sessions/end` signs another
 * browser out, `POST /me/sessions/end-others` all of them, `POST /me/consents/withdraw` withdraws a consent and revokes its tokens, `POST /me/language` sets the
 * language of email and the formats of dates and numbers. A session of an account's provider sees and ends only what belongs
 * to that account.
 */
export function registerMeRoutes(scope: Http, context: SessionContext): void {
  const { door, secondFactors, passkeys, providers } = context;
  const { kysely } = context.database;

  door.page(scope, '/me', { access: 'signed-in' }, async ({ request, reply, csrf, person }) => {
    const { personId } = person;
    const [listed, consented, offered, identities, formats] = await Promise.all([
      listBrowserSessions(kysely, person),
      listReachedConsents(kysely, person),
      providers.listFor(person),
      listProviderIdentities(kysely, person),
      readFormats(kysely, personId),
    ]);
    const own =
      person.reach === 'all'
        ? {
            hasAuthenticator: await secondFactors.hasAuthenticator(personId),
            passkeys: await listPasskeys(kysely, personId),
            passkeyProblem: await passkeys.problemFor(personId),
            locale: (await readLocale(kysely, personId)) ?? 'en',
          }
        : undefined;
    return sendPage(
      reply,
      mePage({
        csrf,
        name: person.name,
        email: person.email,
        sessionId: person.id,
        sessions: listed,
        consents: consented,
        providers: offered,
        identities,
        own,
        formats,
        timeZone: browserTimeZone(request),
        note: noticeOf(request),
      }),
    );
  });

  const onMe = { access: 'signed-in', page: '/me' } as const;
  door.form(scope, '/me/sessions/end', onMe, async ({ reply, person, form, record }) => {
    if (await endSessionById(kysely, person, form.get('session') ?? ''))
      await record('session_ended');
    return seeOther(reply, '/me?done=session');
  });

  door.form(scope, '/me/sessions/end-others', onMe, async ({ reply, person, record }) => {
    await endOtherSessions(kysely, person);
    await record('sessions_ended');
    return seeOther(reply, '/me?done=sessions');
  });

  door.form(scope, '/me/consents/withdraw', onMe, async ({ reply, person, form, record }) => {
    const clientId = parseClientId(form.get('client_id') ?? '');
    if (clientId !== undefined && (await withdrawConsent(kysely, person, clientId)))
      await record('consent_withdrawn', { clientId });
    return seeOther(reply, '/me?done=consent');
  });

  const wholeOnMe = { access: 'full-reach', page: '/me' } as const;
  door.form(scope, '/me/language', wholeOnMe, async ({ reply, person, form }) => {
    const locale = form.get('language');
    if (isLocale(locale)) await saveLocale(kysely, person.personId, locale);
    const formats = form.get('formats');
    if (isPersonFormats(formats)) await saveFormats(kysely, person.personId, formats);
    return seeOther(reply, '/me?done=language');
  });
}

function noticeOf(request: FastifyRequest): string | undefined {
  const { done } = request.query as Readonly<Record<string, unknown>>;
  return typeof done === 'string' && Object.hasOwn(notices, done) ? notices[done] : undefined;
}

const rule = { access: 'full-reach' } as const;

/** `GET` and `POST /me/password`: changes the password and signs the person out everywhere else. The password alone
 * confirms nothing: this session stays what it was. */
export function registerChangePasswordRoutes(scope: Http, context: SessionContext): void {
  const { browser, door, passwordAuthenticator } = context;

  door.page(scope, '/me/password', rule, async ({ reply, csrf, person }) =>
    sendPage(reply, changePasswordPage({ csrf, personal: [person.email, person.name] })),
  );

  door.form(scope, '/me/password', rule, async (call) => {
    const { request, reply, csrf, person, form, record } = call;
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
      await record('password_changed', { outcome: 'refused' });
      const [status, error] = result.needsProvider
        ? [403, 'You sign in with a provider, so your password can’t be used or changed.']
        : [401, 'Incorrect current password.'];
      return sendPage(reply, changePasswordPage({ csrf, personal, error, status }));
    }
    await browser.renew(request, reply, false);
    await changePassword(context, person, next);
    await record('password_changed');
    return seeOther(reply, '/me?done=password');
  });
}
