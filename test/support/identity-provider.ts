import { once } from 'node:events';
import { after } from 'node:test';
import { Worker } from 'node:worker_threads';
import { TestBrowser, type VisitedPage } from './test-browser.ts';

/** Whom the provider signs in, whatever the browser. */
interface ProviderUser {
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly amr?: readonly string[];
  readonly acr?: string;
  readonly signedInSecondsAgo?: number;
  /** False: the provider doesn't say when. */
  readonly sendsTime?: boolean;
}

export interface ProviderSetup {
  readonly clients: readonly {
    readonly id: string;
    readonly secret: string;
    readonly redirectUri: string;
  }[];
  readonly user: ProviderUser;
  /** Claims are only at the UserInfo endpoint. */
  readonly claimsInUserInfo?: boolean;
  readonly clockOffsetMs?: number;
  /** Each new number brings a new signing key. */
  readonly rotations?: number;
  /** Publishes keys under the right name that signed nothing. */
  readonly publishForeignKeys?: boolean;
  /** Publishes a megabyte of metadata. */
  readonly bloated?: boolean;
}

/** An OpenID Connect provider (`oidc-provider`) in a thread of its own, which moves its clock. */
export class IdentityProvider {
  readonly issuer: string;
  readonly #thread: Worker;
  #requests = 0;

  private constructor(issuer: string, thread: Worker) {
    this.issuer = issuer;
    this.#thread = thread;
  }

  /** Starts a provider on a free port; it is stopped at the end of the file. */
  static async start(): Promise<IdentityProvider> {
    const thread = new Worker(new URL('identity-provider-thread.ts', import.meta.url), {
      stdout: true,
      stderr: true,
    });
    thread.unref();
    const [{ issuer }] = (await once(thread, 'message')) as [{ issuer: string }];
    const provider = new IdentityProvider(issuer, thread);
    after(() => provider.stop());
    return provider;
  }

  /** Changes the provider; what isn't named stays. Sessions at the provider end. */
  async change(change: Partial<ProviderSetup>): Promise<void> {
    this.#requests += 1;
    const id = this.#requests;
    const answered = new Promise<void>((resolve) => {
      const listen = (message: { id?: number }): void => {
        if (message.id !== id) return;
        this.#thread.off('message', listen);
        resolve();
      };
      this.#thread.on('message', listen);
    });
    this.#thread.postMessage({ id, change });
    await answered;
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }

  /** A browser as the provider sees it. */
  browser(): TestBrowser {
    return new TestBrowser(this.issuer);
  }

  /**
   * Signs in at the provider.
   * @param authorizationUrl where the service sent the browser
   * @returns the URL that the provider sends the browser back to
   */
  async authorize(authorizationUrl: string, browser = this.browser()): Promise<string> {
    const page: VisitedPage = await browser.open(authorizationUrl);
    if (page.location === undefined)
      throw new Error(`the provider returned ${page.status}: ${page.text}`);
    return page.location;
  }
}
