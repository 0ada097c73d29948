import type { SenderDirectory } from '../../accounts/sender/sender-directory.ts';
import type { FindReplyHost } from '../../accounts/sender/service-names.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { AttachmentStore } from '../../content/message/attachment-store.ts';
import type { GuardedLinks } from '../../content/message/guarded-link.ts';
import type { MessageContent } from '../../content/message/message-content.ts';
import type { ReplyAddresses } from '../../content/message/reply-address.ts';
import type { SizeBounds } from '../../content/template/size-bounds.ts';
import type { TemplateDirectory } from '../../content/template/template-directory.ts';
import type { Acceptor } from './accept-messages.ts';
import type { AttachmentSettings } from './check-attachments.ts';
import type { IdempotencyLocks } from './idempotency.ts';
import type { ReceivingTemplate, SendBodyParser } from './parse-send-body.ts';
import type { QuotaShares } from './quota-shares.ts';
import type { RecentTemplateUsage } from './recent-template-usage.ts';
import type { StatusLinks } from './status-link.ts';

/** Template data the checks need, in rendered form. */
export interface SendableTemplate extends ReceivingTemplate {
  readonly size: SizeBounds;
  /** Max bytes of a message as sent, without attachments. */
  readonly measure: (content: MessageContent, tracked: boolean) => number;
}

/** What the send operation needs, whichever way a message comes in. */
export interface SendDependencies {
  readonly database: Database;
  readonly senders: Pick<SenderDirectory, 'sender'>;
  readonly templates: Pick<TemplateDirectory<SendableTemplate>, 'published' | 'variant'>;
  readonly parser: SendBodyParser;
  readonly keys: IdempotencyLocks;
  readonly quotas: QuotaShares;
  readonly usage: RecentTemplateUsage;
  readonly acceptor: Acceptor;
  readonly attachments: AttachmentStore;
  readonly attachmentSettings: AttachmentSettings;
  readonly replyAddresses: ReplyAddresses;
  readonly guardedLinks: GuardedLinks;
  readonly findReplyHost: FindReplyHost;
  readonly statusLinks: StatusLinks;
}
