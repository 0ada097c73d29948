import type { IncomingMessage } from 'node:http';
import type { AccessModule } from '../../accounts/access/access-module.ts';
import type { RequestSigner } from '../../accounts/access/aws-signature.ts';
import type { SigningCredentials } from '../../accounts/access/issue-api-key.ts';
import type { Permission } from '../../accounts/access/permission.ts';
import type { RequestOrigin } from '../../accounts/audit/audit-store.ts';
import type { SendingDomains } from '../../accounts/sender/sending-domains.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { TraceSpan } from '../../base/telemetry/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { LoadedTemplate } from '../../content/rendering/load-template.ts';
import type { TemplateDirectory } from '../../content/template/template-directory.ts';
import type { Exchange } from '../../host/http/exchange.ts';
import { kibibyte, sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import type { SendAdmission } from '../../sending/submission/admit-caller.ts';
import type { CustomHeaderRules } from '../../sending/submission/custom-headers.ts';
import type { SendDependencies } from '../../sending/submission/send-dependencies.ts';
import type { Submission } from '../../sending/submission/submission-module.ts';
import type { DropInError, MemberNames } from './drop-in-errors.ts';
import type { MemberTable } from './members.ts';

/** The providers whose APIs the service speaks. The prefix of each is `/NAME`. */
export const dropInNames = ['resend', 'postmark', 'sendgrid', 'mailgun', 'ses'] as const;

export type DropInName = (typeof dropInNames)[number];

type Templates = Pick<TemplateDirectory<LoadedTemplate>, 'localized' | 'published' | 'version'>;

/** What the calls of providers need of the service. */
export interface DropInServices
  extends Pick<SendDependencies, 'database' | 'attachments' | 'attachmentSettings'> {
  readonly access: Pick<AccessModule, 'authenticator' | 'facts' | 'signers'>;
  readonly key: MasterKey;
  readonly submission: Submission;
  readonly headerRules: CustomHeaderRules;
  readonly templates: Templates;
  readonly domains: SendingDomains;
  readonly clock: Clock;
  /** The service’s own address, for links to pages. */
  readonly publicUrl: () => string;
}

/** A request of a caller with the permission of its call. */
export interface DropInRequest {
  readonly services: DropInServices;
  readonly admission: SendAdmission;
  readonly accountId: AccountId;
  readonly kysely: SendDependencies['database']['kysely'];
  /** When it came, in milliseconds since the epoch. */
  readonly now: number;
  /** Those of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** Empty if the call reads none. */
  readonly body: Buffer;
  /** For the audit log. */
  readonly origin: RequestOrigin;
  readonly span: TraceSpan | undefined;
}

export interface DropInAnswer {
  readonly status: number;
  /** JSON, or the text of another content type; undefined: none. */
  readonly body: unknown;
  /** Undefined: JSON. */
  readonly contentType?: string;
  /** More headers: name, value, name, value… */
  readonly headers?: readonly string[];
}

/** A JSON answer. */
export function ok(body: unknown, status = 200): DropInAnswer {
  return { status, body };
}

type Answer = (request: DropInRequest) => Promise<DropInAnswer>;

export type CallMembers = Readonly<Record<string, Pick<MemberTable, 'members' | 'schema'>>>;

/** What is done for a call, and the form of its body. */
interface CallFacts {
  /** Max bytes of its body; absent: none for GET and DELETE, and a small one for the others. */
  readonly bodyBytes?: number;
  /** Its body can have attachments, and is then as large as the account’s limit allows. */
  readonly withAttachments?: true;
  /** The objects in its body, by what the documentation calls them; the body itself is `''`. */
  readonly members?: CallMembers;
  /** What errors of the send body are about in this API: `envelope.fromAddress` is its `from`. */
  readonly names?: MemberNames;
  readonly answer: Answer;
}

/** A body that can have attachments. */
export const withAttachments = { bodyBytes: sendBodyBytes, withAttachments: true } as const;

/** Some SDKs send no body where they could, other clients send `{}`. */
const smallBodyBytes = 4 * kibibyte;

/** A call of a provider's API. */
export interface DropInCall extends CallFacts {
  readonly bodyBytes: number;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the provider's prefix, with parameters: `/emails/:id`. */
  readonly path: string;
  /** Parameters of the query; others are refused by name. Undefined: they aren't checked. */
  readonly query: readonly string[] | undefined;
  readonly permission: Permission;
  /** For the documentation. */
  readonly summary: string;
}

/**
 * Calls by method, path, permission and summary: `GET /emails?limit&after messages:read: list emails`. With a question mark, other
 * parameters than these are refused.
 */
export type CallTable = Readonly<Record<string, Answer | CallFacts>>;

const callHead = /^(\w+) ([^ ?]*)(?:\?(\S*))? ([a-z]+:[a-z-]+): (.*)$/u;

function toCall([head, given]: [string, Answer | CallFacts]): DropInCall {
  const [, method, path = '', query, permission, summary = ''] = callHead.exec(head) ?? [];
  const names = { method, permission } as Pick<DropInCall, 'method' | 'permission'>;
  const facts = typeof given === 'function' ? { answer: given } : given;
  const bodyBytes = method === 'GET' || method === 'DELETE' ? 0 : smallBodyBytes;
  return { ...names, path, query: query?.split('&'), summary, bodyBytes, ...facts };
}

/** An API with the scopes that its calls need. */
export function defineDropIn({
  calls: table,
  ...given
}: Omit<DropIn, 'calls' | 'scopes'> & { readonly calls: CallTable }): DropIn {
  const calls = Object.entries(table).map(toCall);
  const permissions = calls.map(({ permission }) => permission);
  const scopes = [...new Set<Permission>([...permissions, 'messages:send-content'])];
  return { ...given, calls, scopes };
}

/** An API of a provider that its SDKs find here under `/NAME`. */
export interface DropIn {
  readonly name: DropInName;
  /** The API key in the place where the provider's SDK puts it. */
  readonly keyOf: (headers: IncomingMessage['headers']) => string | undefined;
  /**
   * Of a provider whose SDKs send no key, but sign with its secret.
   * @throws DropInRefusal or Fault UNAUTHORIZED
   */
  readonly signerOf?: (
    services: DropInServices,
    request: IncomingMessage,
  ) => Promise<RequestSigner>;
  readonly calls: readonly DropInCall[];
  readonly describeError: (error: DropInError, exchange: Exchange) => DropInAnswer;
  /** The permissions of a key that can make every call. */
  readonly scopes: readonly Permission[];
  /**
   * The environment variables that the SDK reads.
   * @param url with the provider's prefix
   * @param signing set for a key of an SDK that signs
   */
  readonly environment: (
    url: string,
    key: string,
    signing?: SigningCredentials,
  ) => Readonly<Record<string, string>>;
}
