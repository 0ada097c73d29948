import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PurposeKeys } from '../../../base/secrets/purpose-keys.ts';
import { seal, unsealAny } from '../../../base/secrets/seal.ts';
import type { AccountId, PersonId } from '../../../base/values/ids.ts';
import { HostCookie, type TlsCheck } from '../browser/browser-sessions.ts';
import type { LiveChallenge } from '../passkey/passkey-challenges.ts';
import type { SessionModuleDependencies } from '../session-dependencies.ts';
import type { ProviderRequest } from './provider-client.ts';
import { callbackPath, type SignInProvider } from './sign-in-provider.ts';

/** Time for signing in at the provider. */
const flowSeconds = 10 * 60;

/** A sign-in that has begun in this browser and is being finished by the provider. */
export interface SignInFlow extends ProviderRequest {
  /** To sign in, to confirm who signed in, or to connect the provider to a person. */
  readonly purpose: 'sign-in' | 'confirm' | 'link';
  /** The account of the provider; undefined: the installation's. */
  readonly accountId: AccountId | undefined;
  readonly issuer: string;
  /** The person who confirms or connects; undefined for a sign-in. */
  readonly personId: PersonId | undefined;
  /** The local path to continue with. */
  readonly next: string;
}

/**
 * What a sign-in with a provider has to remember until the browser returns, in an encrypted cookie: so it can only be finished
 * by the browser that began it (RFC 9700 section 4.7.1), and a flood of strangers stores nothing.
 */
export class SignInFlows {
  readonly #dependencies: SessionModuleDependencies;
  readonly #keys: PurposeKeys;
  readonly #cookie: HostCookie;

  constructor(dependencies: SessionModuleDependencies, browser: TlsCheck) {
    this.#dependencies = dependencies;
    this.#keys = dependencies.key.keysFor('sign-in flow');
    this.#cookie = new HostCookie('signalpost-provider', browser);
  }

  /** Begins a flow; one that the browser began before is given up. */
  begin(
    request: FastifyRequest,
    reply: FastifyReply,
    provider: SignInProvider,
    options: Pick<SignInFlow, 'purpose' | 'personId' | 'next'>,
  ): SignInFlow {
    const flow: SignInFlow = {
      ...options,
      accountId: provider.accountId,
      issuer: provider.issuer,
      redirectUri: this.#dependencies.publicUrl() + callbackPath(provider),
      state: randomText(),
      nonce: randomText(),
      codeVerifier: randomText(),
      again: options.purpose !== 'sign-in',
      startedAt: this.#dependencies.clock.now(),
    };
    const sealed = seal(this.#keys.current, '', Buffer.from(JSON.stringify(flow)));
    this.#cookie.set(request, reply, sealed.toString('base64url'), flowSeconds);
    return flow;
  }

  /**
   * The flow that a response finishes, and removes it from the browser.
   * @param state of the response
   * @returns undefined if this browser didn't begin it, or too long ago
   */
  end(
    request: FastifyRequest,
    reply: FastifyReply,
    state: string | undefined,
  ): SignInFlow | undefined {
    const value = this.#cookie.read(request);
    if (value === '' || state === undefined) return undefined;
    const flow = this.#open(value);
    if (flow === undefined || !isSameText(flow.state, state)) return undefined;
    this.#cookie.remove(request, reply);
    const age = this.#dependencies.clock.now() - flow.startedAt;
    return age < flowSeconds * 1_000 ? flow : undefined;
  }

  /** What to store so that a flow is finished once, and until when. */
  challengeOf({ state, startedAt }: SignInFlow): LiveChallenge {
    const bytes = createHash('sha256').update(`sign-in flow ${state}`).digest();
    return { bytes, expiresAt: new Date(startedAt + flowSeconds * 1_000) };
  }

  #open(value: string): SignInFlow | undefined {
    try {
      return JSON.parse(unsealAny(this.#keys, '', Buffer.from(value, 'base64url')).toString());
    } catch {
      return undefined;
    }
  }
}

/** 256 random bits; 43 characters, as a code verifier has at least (RFC 7636 section 4.1). */
function randomText(): string {
  return randomBytes(32).toString('base64url');
}

function isSameText(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
