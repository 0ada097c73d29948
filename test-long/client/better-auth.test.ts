import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { addressesIn, FeedbackShop } from '../../test/support/feedback-shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { installTools } from '../support/tools.ts';

await installTools();

// biome-ignore lint/suspicious/noExplicitAny: the root doesn't have the types of these packages
const load = (name: string): Promise<any> => import(name);
const { betterAuth } = await load('better-auth');
const { toNodeHandler } = await load('better-auth/node');
const { magicLink, oidcProvider } = await load('better-auth/plugins');

const shop = await FeedbackShop.open();
await shop.publish('link', '<a href="{{Link}}">Go on</a>', { Link: { guard: true } });
const links: string[] = [];

/** What an app does in the callbacks of the library: the link goes into the mail as it is. */
async function mailLink(to: string, url: string): Promise<void> {
  const { mail } = await shop.send('link', { to, values: { Link: url } });
  links.push(addressesIn(mail.html, 'href')[0] ?? '');
}

const server = createServer();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** An OpenID provider, as Better Auth's plugin makes it. */
const auth = betterAuth({
  baseURL: base,
  secret: 'a secret of the tests that is long enough',
  telemetry: { enabled: false },
  emailAndPassword: {
    enabled: true,
    sendResetPassword: ({ user, url }: { user: { email: string }; url: string }) =>
      mailLink(user.email, url),
  },
  plugins: [
    magicLink({
      sendMagicLink: ({ email, url }: { email: string; url: string }) => mailLink(email, url),
    }),
    oidcProvider({
      loginPage: '/login',
      trustedClients: [
        {
          clientId: 'app',
          clientSecret: 'secret of the app',
          name: 'App',
          type: 'web',
          redirectUrls: [`${base}/app`],
          redirectURLs: [`${base}/app`],
          metadata: null,
          disabled: false,
          skipConsent: true,
        },
      ],
    }),
  ],
});
server.on('request', toNodeHandler(auth));

/** A browser with cookies that doesn't follow redirects. */
class Visitor {
  readonly #cookies = new Map<string, string>();

  async go(
    path: string,
    body?: object,
  ): Promise<{ status: number; location: string; text: string }> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(new URL(path, base), {
      method: body === undefined ? 'GET' : 'POST',
      headers: { cookie, origin: base, 'content-type': 'application/json' },
      redirect: 'manual',
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    const text = await response.text();
    // Pages that call `fetch`, as this does, get the address of some redirects in JSON.
    const [, url = ''] = /"url":"([^"]+)"/.exec(text) ?? [];
    return { status: response.status, location: response.headers.get('location') ?? url, text };
  }
}

/** The link of the next mail, after a scanner had it. @returns where the button leads */
async function pressNext(): Promise<string> {
  const link = await waitFor('the mail', () => links.shift());
  for (const method of ['HEAD', 'GET', 'GET', 'POST']) {
    const { status, headers } = await fetch(link, { method, redirect: 'manual' });
    assert.deepEqual([status, headers.get('location')], [200, null]);
  }
  const body = new URLSearchParams({ continue: '1' });
  const pressed = await fetch(link, { method: 'POST', body, redirect: 'manual' });
  assert.equal(pressed.status, 303);
  return pressed.headers.get('location') ?? '';
}

test('a magic link of Better Auth signs in once, after a scanner had the mail', async () => {
  const visitor = new Visitor();
  const email = 'ada@people.test';
  const asked = await visitor.go('/api/auth/sign-in/magic-link', { email, callbackURL: '/home' });
  assert.equal(asked.status, 200, asked.text);
  const target = await pressNext();
  assert.ok(target.startsWith(`${base}/api/auth/magic-link/verify?token=`), target);
  const verified = await visitor.go(target);
  assert.equal(verified.status, 302, verified.text);
  assert.equal(new URL(verified.location, base).href, `${base}/home`);
  const session = JSON.parse((await visitor.go('/api/auth/get-session')).text);
  assert.equal(session.user.email, email);
  assert.match((await new Visitor().go(target)).location, /error=/);
});

test('a password reset of an OpenID provider works, after a scanner had the mail', async () => {
  const account = { email: 'bob@people.test', password: 'the forgotten password' };
  const created = await new Visitor().go('/api/auth/sign-up/email', { ...account, name: 'Bob' });
  assert.equal(created.status, 200, created.text);

  const visitor = new Visitor();
  const query = new URLSearchParams({
    client_id: 'app',
    response_type: 'code',
    redirect_uri: `${base}/app`,
    scope: 'openid',
    state: 'of-the-app',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  const authorize = `/api/auth/oauth2/authorize?${query}`;
  const before = await visitor.go(authorize);
  assert.equal(new URL(before.location, base).pathname, '/login');
  const asked = await visitor.go('/api/auth/request-password-reset', {
    email: account.email,
    redirectTo: `${base}/reset`,
  });
  assert.equal(asked.status, 200, asked.text);
  const page = new URL((await visitor.go(await pressNext())).location, base);
  assert.equal(page.pathname, '/reset');
  const token = page.searchParams.get('token');
  const password = 'the new password of Bob';
  const reset = await visitor.go('/api/auth/reset-password', { newPassword: password, token });
  assert.equal(reset.status, 200, reset.text);

  const signIn = (given: string) =>
    visitor.go('/api/auth/sign-in/email', { email: account.email, password: given });
  assert.equal((await signIn(account.password)).status, 401);
  assert.ok((await signIn(password)).status < 400);
  const back = new URL((await visitor.go(authorize)).location, base);
  assert.equal(back.pathname, '/app');
  assert.equal(back.searchParams.get('state'), 'of-the-app');
  assert.ok(back.searchParams.get('code'));
});
