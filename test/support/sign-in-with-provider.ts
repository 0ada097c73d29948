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
  if (sent.location === undefined) return { browser, page: sent };
  const page = await browser.open(await provider.authorize(sent.location, atProvider));
  return { browser, page };
}

/** Headers of a management client with a browser's session. */
export function sessionHeaders(browser: TestBrowser, origin: string): Record<string, string> {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return { cookie, origin, 'x-signalpost-request': '1' };
}
