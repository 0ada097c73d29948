import type { FastifyReply } from 'fastify';
import { browserTimeZone } from '../../host/http/browser-time-zone.ts';
import type { Http } from '../../host/http/create-http.ts';
import { readFormats } from '../account/person-store.ts';
import type { SessionContext } from '../session-context.ts';
import { endOtherSessions } from '../sign-in/browser/browser-session-store.ts';
import type { PageCall } from '../sign-in/browser/page-door.ts';
import {
  backToMe,
  browserName,
  messagePage,
  pageTime,
  seeOther,
  sendPage,
} from '../sign-in/pages/layout.ts';
import { newPasskeyPage, passkeyPage } from '../sign-in/pages/passkey-pages.ts';
import { recoveryCodesPage } from '../sign-in/pages/recovery-codes-page.ts';
import {
  listPasskeys,
  maxPasskeys,
  removePasskey,
  renamePasskey,
} from '../sign-in/passkey/passkey-store.ts';

const maxNameLength = 60;
const newPage = '/me/passkeys/new';
const confirmed = { access: 'full-reach', confirmed: true } as const;
const onMe = { ...confirmed, page: '/me' } as const;

/**
 * `GET /me/passkeys/new` and `POST /me/passkeys`: add a passkey; the first second factor also signs out all other browsers
 * and shows recovery codes. `GET /me/passkeys/ID`, `POST /me/passkeys/rename` and `POST /me/passkeys/remove` change one.
 * All ask people to confirm who they are.
 */
export function registerMyPasskeysRoutes(scope: Http, context: SessionContext): void {
  const { door, passkeys, secondFactors, recoveryCodes } = context;
  const { kysely } = context.database;

  door.page(scope, newPage, confirmed, (call) => showNew(call));

  door.page(scope, '/me/passkeys', { access: 'signed-in' }, async ({ reply }) =>
    seeOther(reply, '/me#passkeys'),
  );

  door.form(scope, '/me/passkeys', { ...confirmed, page: newPage }, async (call) => {
    const { request, reply, form } = call;
    const { personId } = call.person;
    const isFirst = !(await secondFactors.has(personId));
    const name = nameOf(form.get('name')) ?? browserName(request.headers['user-agent'] ?? '');
    if (!(await passkeys.register({ personId }, call.csrf, name, form.get('answer') ?? ''))) {
      const error = `The passkey wasn’t added. The page may have expired, or you already have ${maxPasskeys}. Try again.`;
      return showNew(call, error);
    }
    await call.record('passkey_added', { detail: { name } });
    if (!isFirst) return seeOther(reply, '/me?done=passkey');
    // The other browsers signed in with the password alone.
    await endOtherSessions(kysely, call.person);
    const codes = await recoveryCodes.renew(personId);
    await call.record('recovery_codes_made');
    return sendPage(reply, recoveryCodesPage(codes));
  });

  door.page(scope, '/me/passkeys/:id', confirmed, async ({ request, reply, csrf, person }) => {
    const { id: asked } = request.params as { readonly id: string };
    const [list, hasAuthenticator, formats] = await Promise.all([
      listPasskeys(kysely, person.personId),
      secondFactors.hasAuthenticator(person.personId),
      readFormats(kysely, person.personId),
    ]);
    const passkey = list.find(({ id }) => id === asked);
    if (passkey === undefined) return seeOther(reply, '/me');
    const isLastFactor = list.length === 1 && !hasAuthenticator;
    const timeZone = browserTimeZone(request);
    const time = (at: Date) => pageTime(at, formats, timeZone);
    return sendPage(reply, passkeyPage({ csrf, passkey, isLastFactor, time }));
  });

  door.form(scope, '/me/passkeys/rename', onMe, async ({ reply, person, form }) => {
    const name = nameOf(form.get('name'));
    const id = form.get('passkey') ?? '';
    const renamed = name !== undefined && (await renamePasskey(kysely, person.personId, id, name));
    return seeOther(reply, renamed ? '/me?done=renamed' : '/me');
  });

  door.form(scope, '/me/passkeys/remove', onMe, async ({ reply, person, form, record }) => {
    const name = await removePasskey(kysely, person.personId, form.get('passkey') ?? '');
    if (name === undefined) return seeOther(reply, '/me');
    await record('passkey_removed', { detail: { name } });
    return seeOther(reply, '/me?done=passkey-removed');
  });

  async function showNew(
    { request, reply, csrf, person }: PageCall,
    error?: string,
  ): Promise<FastifyReply> {
    const prompt = await passkeys.promptToRegister(person, csrf);
    if (prompt === undefined) {
      const text = (await passkeys.problemFor(person.personId)) ?? '';
      return sendPage(reply, messagePage('Passkeys aren’t available', text, 404, backToMe));
    }
    const name = browserName(request.headers['user-agent'] ?? '');
    const first = !(await secondFactors.has(person.personId));
    return sendPage(reply, newPasskeyPage({ csrf, prompt, name, first, error }));
  }
}

/** A usable name without control characters; undefined if there is none. */
function nameOf(text: string | undefined): string | undefined {
  const name = (text ?? '').replaceAll(/\p{Cc}+/gu, ' ').trim();
  const length = [...name].length;
  return length > 0 && length <= maxNameLength ? name : undefined;
}
