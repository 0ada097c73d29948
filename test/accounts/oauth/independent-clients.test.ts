import assert from 'node:assert/strict';
import { test } from 'node:test';
import ClientOAuth2 from 'client-oauth2';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import PassportOAuth2 from 'passport-oauth2';
import { AuthorizationCode, ResourceOwnerPassword } from 'simple-oauth2';
import { clientSecret, password } from '../../support/session-world.ts';
import { TestBrowser } from '../../support/test-browser.ts';
import { openSharedWorld } from '../../support/test-shop.ts';

const { service, world } = await openSharedWorld();
const client = await world.addIntegration();
const { clientId, redirectUri } = client;
const scope = 'PRODUCTION';

/** Signs a person in and allows the integration; returns the URL it redirects to. */
async function consent(person: { email: string }, address: string): Promise<string> {
  const browser = new TestBrowser(service.url);
  const page = await browser.submit(await browser.open(address), { email: person.email, password });
  return (await browser.submit(page, { decision: 'allow' })).location ?? '';
}

test('oauth4webapi at its strictest: discovery, code grant with PKCE, state and issuer, refresh, reuse, revocation', async () => {
  const person = await world.addPerson();
  const options = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(service.url);
  const discovered = await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' });
  // The issuer has no path, so URL adds a slash to its name.
  const metadata: unknown = await discovered.clone().json();
  const server = metadata as oauth.AuthorizationServer;
  assert.equal(server.issuer, service.url);
  const self: oauth.Client = { client_id: clientId };
  for (const authentication of [
    oauth.ClientSecretPost(clientSecret),
    oauth.ClientSecretBasic(clientSecret),
  ]) {
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const address = new URL(server.authorization_endpoint ?? '');
    address.search = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString();
    const called = new URL(await consent(person, address.href));
    const parameters = oauth.validateAuthResponse(server, self, called, state);
    assert.throws(() => oauth.validateAuthResponse(server, self, called, 'another state'));
    const answer = await oauth.authorizationCodeGrantRequest(
      server,
      self,
      authentication,
      parameters,
      redirectUri,
      verifier,
      options,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, self, answer);
    assert.equal(tokens.token_type, 'bearer');
    assert.equal(tokens.expires_in, 3600);

    const refresh = (token: string) =>
      oauth
        .refreshTokenGrantRequest(server, self, authentication, token, options)
        .then((response) => oauth.processRefreshTokenResponse(server, self, response));
    const renewed = await refresh(tokens.refresh_token ?? '');
    await assert.rejects(refresh(tokens.refresh_token ?? ''), (error) => {
      assert.ok(error instanceof oauth.ResponseBodyError);
      assert.equal(error.error, 'invalid_grant');
      return true;
    });
    const revoked = await oauth.revocationRequest(
      server,
      self,
      authentication,
      renewed.refresh_token ?? '',
      options,
    );
    await oauth.processRevocationResponse(revoked);
    const response = await oauth.introspectionRequest(
      server,
      self,
      authentication,
      renewed.access_token,
      options,
    );
    assert.equal((await oauth.processIntrospectionResponse(server, self, response)).active, false);
  }
});

test('oauth4webapi: the password grant as a generic grant, and its errors', async () => {
  const person = await world.addPerson();
  const options = { [oauth.allowInsecureRequests]: true };
  const server: oauth.AuthorizationServer = {
    issuer: service.url,
    token_endpoint: `${service.url}/token`,
  };
  const self: oauth.Client = { client_id: clientId };
  const grant = async (secret: string, typed: string) =>
    oauth.processGenericTokenEndpointResponse(
      server,
      self,
      await oauth.genericTokenEndpointRequest(
        server,
        self,
        oauth.ClientSecretPost(secret),
        'password',
        { username: person.email, password: typed },
        options,
      ),
    );
  assert.equal((await grant(clientSecret, password)).expires_in, 3600);
  const errorOf = (promise: Promise<unknown>) =>
    promise.then(
      () => undefined,
      (error: unknown) => (error as oauth.ResponseBodyError).error,
    );
  assert.equal(await errorOf(grant(clientSecret, 'wrong')), 'invalid_grant');
  assert.equal(await errorOf(grant('wrong', password)), 'invalid_client');
});

test('openid-client: discovery, code grant, refresh, reuse, introspection, revocation', async () => {
  const person = await world.addPerson();
  const configuration = await openid.discovery(
    new URL(service.url),
    clientId,
    clientSecret,
    undefined,
    { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] },
  );
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const expectedState = openid.randomState();
  const address = openid.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope,
    state: expectedState,
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  const called = new URL(await consent(person, address.href));
  const checks = { pkceCodeVerifier, expectedState };
  const tokens = await openid.authorizationCodeGrant(configuration, called, checks);
  const renewed = await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? '');
  await assert.rejects(openid.refreshTokenGrant(configuration, tokens.refresh_token ?? ''), {
    error: 'invalid_grant',
  });
  const own = await openid.tokenIntrospection(configuration, renewed.access_token);
  assert.equal(own.active, true);
  await openid.tokenRevocation(configuration, renewed.access_token);
  await assert.rejects(openid.authorizationCodeGrant(configuration, called, checks), {
    error: 'invalid_grant',
  });
});

test('simple-oauth2: password, code and refresh grants, by form and by header, and revocation', async () => {
  const person = await world.addPerson();
  for (const authorizationMethod of ['body', 'header'] as const) {
    const settings = {
      client: { id: clientId, secret: clientSecret },
      auth: {
        tokenHost: service.url,
        tokenPath: '/token',
        revokePath: '/revoke',
      },
      options: { authorizationMethod },
    };
    const owner = new ResourceOwnerPassword(settings);
    const first = await owner.getToken({ username: person.email, password });
    assert.equal(first.expired(), false);
    const second = await first.refresh();
    assert.notEqual(second.token.access_token, first.token.access_token);
    await assert.rejects(first.refresh(), { message: 'Response Error: 400 Bad Request' });
    await second.revoke('refresh_token');

    const code = new AuthorizationCode({
      ...settings,
      auth: { ...settings.auth, authorizePath: '/authorize' },
    });
    const address = code.authorizeURL({ redirect_uri: redirectUri, scope, state: 'abc' });
    const called = new URL(await consent(person, address));
    assert.equal(called.searchParams.get('state'), 'abc');
    const tokens = await code.getToken({
      code: called.searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
    });
    assert.equal(tokens.token.token_type, 'bearer');
  }
});

test('client-oauth2: password, code and refresh grants, and the state check', async () => {
  const person = await world.addPerson();
  const auth = new ClientOAuth2({
    clientId,
    clientSecret,
    accessTokenUri: `${service.url}/token`,
    authorizationUri: `${service.url}/authorize`,
    redirectUri,
    scopes: [scope],
    state: 'abc',
  });
  const first = await auth.owner.getToken(person.email, password);
  assert.equal(first.tokenType, 'bearer');
  const second = await first.refresh();
  assert.notEqual(second.accessToken, first.accessToken);
  await assert.rejects(first.refresh(), { code: 'EAUTH' });
  const called = await consent(person, auth.code.getUri());
  await assert.rejects(auth.code.getToken(called, { state: 'another' }));
  const tokens = await auth.code.getToken(called);
  assert.ok(tokens.refreshToken);
  await assert.rejects(auth.code.getToken(called), { code: 'EAUTH' });
});

test('passport-oauth2: the code grant with PKCE and its own state store', async () => {
  const person = await world.addPerson();
  const session: Record<string, unknown> = {};
  const strategyWith = (done: (accessToken: string, refreshToken: string) => void) =>
    new PassportOAuth2.Strategy(
      {
        authorizationURL: `${service.url}/authorize`,
        tokenURL: `${service.url}/token`,
        clientID: clientId,
        clientSecret,
        callbackURL: redirectUri,
        scope,
        state: true,
        pkce: true,
      } as PassportOAuth2.StrategyOptions,
      (
        accessToken: string,
        refreshToken: string,
        _profile: unknown,
        verified: (error: null, user: object) => void,
      ) => {
        done(accessToken, refreshToken);
        verified(null, { id: 1 });
      },
    );
  const run = (strategy: PassportOAuth2.Strategy, query: Record<string, string>) =>
    new Promise<string>((resolve, reject) => {
      Object.assign(strategy, {
        redirect: resolve,
        success: () => resolve('success'),
        fail: (challenge: unknown) => reject(new Error(JSON.stringify(challenge))),
        error: reject,
      });
      const request = { query, session, headers: {}, url: '/', connection: {} };
      strategy.authenticate(request as never, {});
    });
  let received: string[] = [];
  const strategy = strategyWith((...tokens) => {
    received = tokens;
  });
  const address = await run(strategy, {});
  const called = new URL(await consent(person, address));
  assert.equal(await run(strategy, Object.fromEntries(called.searchParams)), 'success');
  assert.match(String(received[0]), /^spa_/);
  assert.match(String(received[1]), /^spr_/);
});
