import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';
import Provider, { type Configuration, type JWK } from 'oidc-provider';
import type { ProviderSetup } from './identity-provider.ts';

/** An OpenID Connect provider in a thread of its own, which signs in everyone as the user that the test names. */

const realNow = Date.now;
let setup: ProviderSetup;
let provider: Provider;
let keys = [makeKey()];
/** Keys that sign nothing, published in place of the real ones. */
const foreignKeys = [makeKey()];

function makeKey(): JWK {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig' } as JWK;
}

const server = createServer((request, response) => {
  const path = request.url ?? '';
  if (path.startsWith('/interaction/')) {
    const { subject, amr, acr, signedInSecondsAgo = 0 } = setup.user;
    const ts = Math.floor(Date.now() / 1_000) - signedInSecondsAgo;
    const login = { accountId: subject, ts, ...(amr && { amr: [...amr] }), ...(acr && { acr }) };
    provider.interactionFinished(request, response, { login }).catch((error) => {
      response.writeHead(500).end(String(error));
    });
  } else if (path === '/jwks' && setup.publishForeignKeys) {
    const published = foreignKeys.map(({ kty, n, e, use }) => ({
      kty,
      n,
      e,
      use,
      kid: keys[0]?.kid,
    }));
    response.setHeader('content-type', 'application/jwk-set+json');
    response.end(JSON.stringify({ keys: published }));
  } else if (path.startsWith('/.well-known') && setup.bloated) {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ issuer, more: 'x'.repeat(1024 * 1024) }));
  } else provider.callback()(request, response);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function makeProvider(): Provider {
  const { clients, user } = setup;
  const configuration: Configuration = {
    clients: clients.map(({ id, secret, redirectUri }) => ({
      client_id: id,
      client_secret: secret,
      redirect_uris: [redirectUri],
      require_auth_time: setup.user.sendsTime !== false,
    })),
    jwks: { keys },
    pkce: { required: () => true },
    conformIdTokenClaims: setup.claimsInUserInfo === true,
    claims: {
      openid: ['sub', 'acr', 'amr', '_claim_names'],
      email: ['email', 'email_verified'],
      profile: ['name'],
      groups: ['groups'],
    },
    scopes: ['openid', 'email', 'profile', 'groups'],
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ['test'] },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    acrValues: ['phr', 'pwd'],
    findAccount: (_context, accountId) => ({
      accountId,
      claims: async () => ({ sub: accountId, ...user.claims }),
    }),
    // The consent screen isn't what is tested.
    async loadExistingGrant(context) {
      const { client, session } = context.oidc;
      const grant = new context.oidc.provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email profile groups');
      await grant.save();
      return grant;
    },
  };
  return new Provider(issuer, configuration);
}

parentPort?.on('message', ({ id, change }: { id: number; change: Partial<ProviderSetup> }) => {
  setup = { ...setup, ...change };
  if (change.rotations !== undefined) keys = [makeKey()];
  Date.now = () => realNow() + (setup.clockOffsetMs ?? 0);
  provider = makeProvider();
  parentPort?.postMessage({ id });
});
parentPort?.postMessage({ issuer });
