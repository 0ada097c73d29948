import assert from 'node:assert/strict';
import type { Integration } from '../../src/accounts/oauth/integration-store.ts';
import { clientSecret, password, postToken } from './session-world.ts';
import { TestBrowser } from './test-browser.ts';

/**
 * Authorizes an integration for an account, as a person with a browser does, and redeems the code.
 * @returns the access token
 */
export async function tokenByConsent(
  service: { readonly url: string },
  email: string,
  integration: Integration,
  account: string,
): Promise<string> {
  const browser = new TestBrowser(service.url);
  const query = new URLSearchParams({
    scope: 'PRODUCTION',
    response_type: 'code',
    client_id: integration.clientId,
  });
  const signIn = await browser.open(`/authorize?${query}`);
  const consent = await browser.submit(signIn, { email, password });
  const response = await browser.submit(consent, { decision: 'allow', account });
  const code = new URL(response.location ?? '').searchParams.get('code') ?? '';
  const issued = await postToken(service, {
    grant_type: 'authorization_code',
    code,
    client_id: integration.clientId,
    client_secret: clientSecret,
    redirect_uri: integration.redirectUri,
  });
  assert.equal(issued.status, 200, issued.text);
  return String(issued.body.access_token);
}
