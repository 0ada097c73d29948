import type { IncomingMessage } from 'node:http';
import type { AccessModule } from '../../accounts/access/access-module.ts';
import type { SigningCredentials } from '../../accounts/access/issue-api-key.ts';
import type { Permission } from '../../accounts/access/permission.ts';
import type { KeyPrincipal } from '../../accounts/access/principal.ts';
import type { SendingDomains } from '../../accounts/sender/sending-domains.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { TraceSpan } from '../../base/telemetry/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { FaultCode, FaultDetail } from '../../base/values/errors.ts';
import type { AttachmentStore } from '../../content/message/attachment-store.ts';
import type { LoadedTemplate } from '../../content/rendering/load-template.ts';
import type { TemplateDirectory } from '../../content/template/template-directory.ts';
import { sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import type {
  AdmissionDependencies,
  SendAdmission,
} from '../../sending/submission/admit-caller.ts';
import type { AttachmentSettings } from '../../sending/submission/check-attachments.ts';
import type { CustomHeaderRules } from '../../sending/submission/custom-headers.ts';
import type { Submission } from '../../sending/submission/submission-module.ts';
import type { DropInName } from './drop-in-names.ts';
import type { MemberTable } from './members.ts';

/** What the calls of providers need of the service. */
export interface DropInServices {
  readonly access: AdmissionDependencies & Pick<AccessModule, 'signers'>;
  readonly key: MasterKey;
  readonly submission: Pick<
    Submission,
    'send' | 'sendContent' | 'sendRaw' | 'check' | 'checkContent' | 'useItems'
  >;
  readonly database: Database;
  readonly attachments: Pick<AttachmentStore, 'read'>;
  readonly attachmentSettings: AttachmentSettings;
  readonly headerRules: Pick<CustomHeaderRules, 'isReserved'>;
  readonly templates: Pick<
    TemplateDirectory<LoadedTemplate>,
    'localized' | 'published' | 'version'
  >;
  readonly domains: Pick<SendingDomains, 'records'>;
  readonly clock: Clock;
  /** The service’s own address, for links to pages. */
  readonly publicUrl: () => string;
}

/** A request of a caller with the permission of its call. */
export interface DropInRequest {
  readonly services: DropInServices;
  readonly admission: SendAdmission;
  /** Those of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  /** Empty if the call reads none. */
  readonly body: Buffer;
  /** For the audit log. */
  readonly origin: { readonly remoteAddress: string; readonly requestId: string };
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

/** A call of a provider's API. */
export interface DropInCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the provider's prefix, with parameters: `/emails/:id`. */
  readonly path: string;
  readonly permission: Permission;
  /** Max bytes of its body; absent: it has none. */
  readonly bodyBytes?: number;
  /** Its body can have attachments, and is then as large as the account’s limit allows. */
  readonly withAttachments?: true;
  /** Parameters of the query; others are refused by name. Absent: they aren't checked. */
  readonly query?: readonly string[];
  /** The objects in its body, by what the documentation calls them; the body itself is `''`. */
  readonly members?: Readonly<Record<string, MemberTable>>;
  /** What errors of the send body are about in this API: `envelope.fromAddress` is its `from`. */
  readonly names?: Readonly<Record<string, string>>;
  /** For the documentation. */
  readonly summary: string;
  readonly answer: (request: DropInRequest) => Promise<DropInAnswer>;
}

/** An API with the scopes that its calls need. */
export function defineDropIn(given: Omit<DropIn, 'scopes'>): DropIn {
  const permissions = given.calls.map(({ permission }) => permission);
  const scopes = [...new Set<Permission>([...permissions, 'messages:send-content'])];
  return { ...given, scopes };
}

type CallHead = `${DropInCall['method']} ${string} ${Permission}: ${string}`;
type CallRest = Partial<Omit<DropInCall, 'method' | 'path' | 'permission' | 'summary' | 'answer'>>;

/** A call in one line. @param head method, path, permission and summary: `GET /emails messages:read: list emails` */
export function on(head: CallHead, answer: DropInCall['answer'], rest: CallRest = {}): DropInCall {
  const [, method, path = '', permission, summary = ''] =
    /^(\w+) (\S*) ([a-z]+:[a-z-]+): (.*)$/u.exec(head) ?? [];
  const names = { method, permission } as Pick<DropInCall, 'method' | 'permission'>;
  return { ...names, path, summary, answer, ...rest };
}

/** A body that can have attachments. */
export const withAttachments = { bodyBytes: sendBodyBytes, withAttachments: true } as const;

/** A JSON answer. */
export function ok(body: unknown, status = 200): DropInAnswer {
  return { status, body };
}

/** Why a call of a provider's API fails; the send operation has the other reasons. */
export type DropInRefusalKind = 'MISSING_KEY' | 'UNSUPPORTED_CALL' | 'NOT_FOUND' | 'CONFLICT';

/** A request that only an API of a provider can refuse in this way. */
export class DropInRefusal extends Error {
  override name = 'DropInRefusal';
  readonly kind: DropInRefusalKind;

  /** @param message one sentence for the caller */
  constructor(kind: DropInRefusalKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** An error for the form of the provider. */
export interface DropInError {
  readonly kind: FaultCode | DropInRefusalKind | 'MISSING_PERMISSION';
  /** That of the send operation, where it has one. */
  readonly status: number;
  /** Sentences that name the members of the provider's request. */
  readonly message: string;
  /** With the members of the provider's request. */
  readonly details: readonly FaultDetail[];
}

/** Who signed a request, as its head says. */
export interface DropInSigner {
  readonly principal: KeyPrincipal;
  /** @throws Fault UNAUTHORIZED unless the request was signed with this body */
  readonly checkBody: (body: Buffer) => Promise<void>;
}

/** The request that an error answers. */
export interface DropInOrigin {
  /** Of its request line. */
  readonly target: string;
  readonly requestId: string;
}

/** An API of a provider that its SDKs find here under `/NAME`. */
export interface DropIn {
  readonly name: DropInName;
  /** As the provider writes itself. */
  readonly title: string;
  /** The API key in the place where the provider's SDK puts it. */
  readonly keyOf: (headers: IncomingMessage['headers']) => string | undefined;
  /**
   * Of a provider whose SDKs send no key, but sign with its secret.
   * @throws DropInRefusal or Fault UNAUTHORIZED
   */
  readonly signerOf?: (services: DropInServices, request: IncomingMessage) => Promise<DropInSigner>;
  readonly calls: readonly DropInCall[];
  readonly describeError: (error: DropInError, origin: DropInOrigin) => DropInAnswer;
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
