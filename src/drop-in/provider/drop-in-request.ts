import type { IncomingMessage } from 'node:http';
import type { AccessModule } from '../../accounts/access/access-module.ts';
import type { RequestOrigin } from '../../accounts/audit/audit-store.ts';
import type { SendingDomains } from '../../accounts/sender/sending-domains.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { TraceSpan } from '../../base/telemetry/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { LoadedTemplate } from '../../content/rendering/load-template.ts';
import type { TemplateDirectory } from '../../content/template/template-directory.ts';
import type { SendAdmission } from '../../sending/submission/admit-caller.ts';
import type { CustomHeaderRules } from '../../sending/submission/custom-headers.ts';
import type { SendDependencies } from '../../sending/submission/send-dependencies.ts';
import type { Submission } from '../../sending/submission/submission-module.ts';

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
export interface RequestFacts {
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

/** What can be done for a request. */
export abstract class RequestActions {
  protected readonly request: RequestFacts;

  constructor(request: RequestFacts) {
    this.request = request;
  }
}
