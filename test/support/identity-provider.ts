import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after } from 'node:test';
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

/** An OpenID Connect provider (`oidc-provider`) in a process of its own. */
export class IdentityProvider {
  readonly issuer: string;
  readonly #child: ChildProcess;
  #requests = 0;

  private constructor(issuer: string, child: ChildProcess) {
    this.issuer = issuer;
    this.#child = child;
  }

  /** Starts a provider on a free port; it is stopped at the end of the file. */
  static async start(): Promise<IdentityProvider> {
    const child = fork(join(import.meta.dirname, 'identity-provider-process.ts'), {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    const [{ issuer }] = (await once(child, 'message')) as [{ issuer: string }];
    const provider = new IdentityProvider(issuer, child);
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
        this.#child.off('message', listen);
        resolve();
      };
      this.#child.on('message', listen);
    });
    this.#child.send({ id, change });
    await answered;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
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
