import type { IncomingMessage } from 'node:http';
import type { AccessModule } from '../../accounts/access/access-module.ts';
import type { RequestOrigin } from '../../accounts/audit/audit-store.ts';
import type { SendingDomains } from '../../accounts/sender/sending-domains.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { TraceSpan } from '../../base/telemetry/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { AttachmentStore } from '../../content/message/attachment-store.ts';
import type { LoadedTemplate } from '../../content/rendering/load-template.ts';
import type { TemplateDirectory } from '../../content/template/template-directory.ts';
import type { SendAdmission } from '../../sending/submission/admit-caller.ts';
import type { AttachmentSettings } from '../../sending/submission/check-attachments.ts';
import type { CustomHeaderRules } from '../../sending/submission/custom-headers.ts';
import type { Submission } from '../../sending/submission/submission-module.ts';

/** What the calls of providers need of the service. */
export interface DropInServices {
  readonly access: Pick<AccessModule, 'authenticator' | 'facts' | 'signers'>;
  readonly key: MasterKey;
  readonly submission: Submission;
  readonly database: Database;
  readonly attachments: AttachmentStore;
  readonly attachmentSettings: AttachmentSettings;
  readonly headerRules: CustomHeaderRules;
  readonly templates: Pick<
    TemplateDirectory<LoadedTemplate>,
    'localized' | 'published' | 'version'
  >;
  readonly domains: SendingDomains;
  readonly clock: Clock;
  /** The service’s own address, for links to pages. */
  readonly publicUrl: () => string;
}

/** A request of a caller with the permission of its call. */
export interface RequestFacts {
  readonly services: DropInServices;
  readonly admission: SendAdmission;
  readonly accountId: AccountId;
  readonly kysely: Database['kysely'];
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
