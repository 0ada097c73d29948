import type { IdentityProvider } from './identity-provider.ts';
import { TestBrowser, type VisitedPage } from './test-browser.ts';

/** Sends a browser to a provider and back. @returns the page it ends at */
export async function signInWithProvider(
  service: { readonly url: string },
  provider: IdentityProvider,
  options: {
    readonly user?: Parameters<IdentityProvider['change']>[0]['user'];
    readonly browser?: TestBrowser;
    /** Whose browser it is at the provider. */
    readonly atProvider?: TestBrowser;
    /** The page that starts it. */
    readonly start?: string;
  } = {},
): Promise<{ readonly browser: TestBrowser; readonly page: VisitedPage }> {
  const { user, browser = new TestBrowser(service.url), atProvider, start } = options;
  if (user !== undefined) await provider.change({ user });
  const sent = await browser.request(start ?? '/sign-in/oidc?next=/me');
  const target = providerUrlOf(sent);
  if (target === undefined) return { browser, page: sent };
  const page = await browser.open(await provider.authorize(target, atProvider));
  return { browser, page };
}

/** Where a page leads to a provider: a redirect, or the link of the page before an account's provider. */
export function providerUrlOf(page: Pick<VisitedPage, 'location' | 'text'>): string | undefined {
  const href = page.location ?? /href="([^"]+)">Continue (?:to|with)/.exec(page.text)?.[1];
  return href
    ?.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replaceAll('&amp;', '&');
}

/** Headers of a management client with a browser's session. */
export function sessionHeaders(browser: TestBrowser, origin: string): Record<string, string> {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return { cookie, origin, 'x-signalpost-request': '1' };
}
