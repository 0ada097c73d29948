import assert from 'node:assert/strict';
import { addressesIn } from '../../test/support/feedback-shop.ts';

/** What a page answered. */
export interface Visit {
  readonly status: number;
  /** The address of a redirect; empty if there is none. */
  readonly location: string;
  readonly text: string;
}

/** A browser with cookies that doesn't follow redirects. */
export class Visitor {
  readonly #base: string;
  readonly #cookies = new Map<string, string>();

  /** @param base the URL of the app */
  constructor(base: string) {
    this.#base = base;
  }

  /** Gets a page, or posts to it: a form as browsers do, and another object as JSON. */
  async go(path: string, body?: object): Promise<Visit> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const isForm = body instanceof FormData || body instanceof URLSearchParams;
    const response = await fetch(new URL(path, this.#base), {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        cookie,
        origin: new URL(this.#base).origin,
        ...(!isForm && { 'content-type': 'application/json' }),
      },
      redirect: 'manual',
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
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

/** Presses the button behind the only link of a mail, after a scanner had it. @returns where it leads */
export async function pressLink(mail: { readonly html: string | null }): Promise<string> {
  const [link = '', ...more] = addressesIn(mail.html, 'href');
  assert.deepEqual(more, []);
  for (const method of ['HEAD', 'GET', 'GET', 'POST']) {
    const { status, headers } = await fetch(link, { method, redirect: 'manual' });
    assert.deepEqual([status, headers.get('location')], [200, null]);
  }
  const body = new URLSearchParams({ continue: '1' });
  const pressed = await fetch(link, { method: 'POST', body, redirect: 'manual' });
  assert.equal(pressed.status, 303);
  return pressed.headers.get('location') ?? '';
}
