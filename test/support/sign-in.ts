import assert from 'node:assert/strict';
import { password } from './session-world.ts';

/** Signs in a test user through the page, like a browser. @returns the cookie */
export async function signIn(service: { readonly url: string }, email: string): Promise<string> {
  const page = await fetch(`${service.url}/sign-in`);
  const visitor = cookieOf(page);
  const csrf = /name="csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  const response = await fetch(`${service.url}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: visitor, origin: service.url },
    body: new URLSearchParams([
      ['csrf', csrf],
      ['email', email],
      ['password', password],
    ]),
  });
  assert.equal(response.status, 303);
  return cookieOf(response);
}

function cookieOf(response: Response): string {
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}
