import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Http } from '../../../host/http/create-http.ts';
import { authorize, type Refusal } from '../../access/authorize.ts';
import type { PageAccess } from '../../access/permission.ts';
import type { AuditEvent } from '../../audit/audit-store.ts';
import { type Form, formOf, recordRequest } from '../form.ts';
import { signInPath } from '../local-path.ts';
import { messagePage, seeOther, sendPage } from '../pages/layout.ts';
import type { SessionModuleDependencies } from '../session-dependencies.ts';
import { type BrowserSession, principalOf } from './browser-session-store.ts';
import type { BrowserSessions } from './browser-sessions.ts';

/** Rules for a page or a form. */
export interface PageRule {
  readonly access: Exclude<PageAccess, 'inbox'>;
  /** People must have confirmed who they are in the last minutes (ASVS 3.7.1). */
  readonly confirmed?: boolean;
  /** Answers people who aren't signed in, if the sign-in page would mislead them; default: that page. */
  answerStranger?(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined>;
}

interface FormRule extends PageRule {
  /** The form's page, where people start again; by default, at the form's own path. */
  readonly page?: string;
}

/** An authorized visit by a signed-in person. */
export interface PageCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Binds forms to this browser and its session. */
  readonly csrf: string;
  readonly person: BrowserSession;
  /** Records the person's action in the audit log. */
  record(kind: string, event?: Omit<AuditEvent, 'kind' | 'personId' | 'origin'>): Promise<void>;
}

/** A form of a page that was served to this browser in its current session. */
export interface FormCall extends PageCall {
  readonly form: Form;
}

type Visitor =
  | { readonly refusal: Refusal }
  | { readonly refusal?: never; readonly person: BrowserSession };

/**
 * Registers the pages that need a signed-in person as operations: `authorize` decides about each visit. Only these
 * pages learn who is visiting; all others know only that somebody is signed in.
 */
export class PageDoor {
  readonly #browser: BrowserSessions;
  readonly #dependencies: SessionModuleDependencies;

  constructor(browser: BrowserSessions, dependencies: SessionModuleDependencies) {
    this.#browser = browser;
    this.#dependencies = dependencies;
  }

  /** Registers a page. Visitors who must sign in or confirm who they are do so and come back. */
  page(
    scope: Http,
    path: string,
    rule: PageRule,
    show: (call: PageCall) => Promise<FastifyReply>,
  ): void {
    scope.get(path, { config: { access: rule.access } }, async (request, reply) => {
      const { csrf, session } = await this.#browser.identify(request, reply);
      const visitor = await this.#admit(request, session, rule);
      return visitor.refusal === undefined
        ? show(this.#call(request, reply, csrf, visitor.person))
        : refuse(request, reply, rule, visitor.refusal, returnPath(request));
    });
  }

  /**
   * Registers a form. If it wasn't served to this browser in its current session, it has no effect: the page is shown
   * again.
   */
  form(
    scope: Http,
    path: string,
    rule: FormRule,
    act: (call: FormCall) => Promise<FastifyReply>,
  ): void {
    scope.post(path, { config: { access: rule.access } }, async (request, reply) => {
      const { csrf, session } = await this.#browser.identify(request, reply);
      const form = formOf(request);
      const page = rule.page ?? request.url;
      const visitor = await this.#admit(request, session, rule);
      if (visitor.refusal !== 'unauthenticated' && !this.#browser.hasValidCsrfToken(request, form))
        return seeOther(reply, page);
      return visitor.refusal === undefined
        ? act({ ...this.#call(request, reply, csrf, visitor.person), form })
        : refuse(request, reply, rule, visitor.refusal, page);
    });
  }

  /** Finds the signed-in person, for public pages that continue a task of theirs. @returns undefined if the rule forbids it */
  async find(request: FastifyRequest, rule: PageRule): Promise<BrowserSession | undefined> {
    const visitor = await this.#admit(request, await this.#browser.findSignedIn(request), rule);
    return visitor.refusal === undefined ? visitor.person : undefined;
  }

  #call(
    request: FastifyRequest,
    reply: FastifyReply,
    csrf: string,
    person: BrowserSession,
  ): PageCall {
    const record: PageCall['record'] = (kind, event) =>
      recordRequest(this.#dependencies.database, request, {
        kind,
        personId: person.personId,
        ...event,
      });
    return { request, reply, csrf, person, record };
  }

  async #admit(
    request: FastifyRequest,
    session: BrowserSession | undefined,
    { access, confirmed }: PageRule,
  ): Promise<Visitor> {
    const person = session?.complete ? session : undefined;
    const { refusal } = await authorize(this.#dependencies.facts, person && principalOf(person), {
      api: 'management',
      access,
      confirmed,
      remoteAddress: () => request.ip,
    });
    if (refusal !== undefined) return { refusal };
    return person === undefined ? { refusal: 'unauthenticated' } : { person };
  }
}

async function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  rule: PageRule,
  refusal: Refusal,
  next: string,
): Promise<FastifyReply> {
  if (refusal === 'unauthenticated')
    return (await rule.answerStranger?.(request, reply)) ?? seeOther(reply, signInPath(next));
  if (refusal === 'unconfirmed')
    return seeOther(reply, `/sign-in/confirm?${new URLSearchParams({ next })}`);
  return sendPage(reply, boundSessionPage);
}

/** Clients refuse a Location header with a longer one. */
const maxReturnPath = 1_000;

/** Where to return after signing in. */
function returnPath({ url }: Pick<FastifyRequest, 'url'>): string {
  return url.length > maxReturnPath ? '/me' : url;
}

/** An account's provider counts only in that account: its owners can sign in as anyone with it. */
const boundSessionPage = messagePage(
  'Sign in another way',
  'You signed in with your account’s provider. To do this, sign in with your password or a passkey.',
  403,
  { href: '/me', label: 'Back' },
);
