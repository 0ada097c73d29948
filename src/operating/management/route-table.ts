import * as accounts from './account/manage-account-routes.ts';
import * as me from './account/manage-me-routes.ts';
import { policyRoutes } from './account/manage-policy-routes.ts';
import { signInProviderRoutes } from './account/manage-sign-in-provider-routes.ts';
import * as users from './account/manage-users-routes.ts';
import * as setUps from './account/set-up-routes.ts';
import * as audit from './audit/manage-audit-routes.ts';
import * as hostedImages from './image/manage-hosted-images-routes.ts';
import { inboxRoutes } from './inbox/manage-inbox-routes.ts';
import * as installation from './installation/manage-installation-routes.ts';
import * as mailTemplates from './installation/manage-mail-templates-routes.ts';
import { peopleRoutes } from './installation/manage-people-routes.ts';
import * as receivers from './installation/manage-receivers-routes.ts';
import * as tlsResults from './installation/tls-results-routes.ts';
import * as apiKeys from './integration/manage-api-keys-routes.ts';
import * as integrations from './integration/manage-integrations-routes.ts';
import * as lists from './list/manage-lists-routes.ts';
import { listEvents } from './message/account-events-routes.ts';
import * as messageControls from './message/control-messages-routes.ts';
import * as messages from './message/manage-messages-routes.ts';
import * as queue from './message/manage-queue-routes.ts';
import * as scheduled from './message/manage-scheduled-routes.ts';
import * as replies from './message/replies-routes.ts';
import { savedFilterRoutes } from './message/saved-filters-routes.ts';
import * as outbox from './outbox/manage-outbox-sources-routes.ts';
import * as privacy from './privacy/manage-privacy-routes.ts';
import * as attention from './report/attention-routes.ts';
import * as reports from './report/manage-reports-routes.ts';
import { listFailedRequests } from './request/list-failed-requests-routes.ts';
import type { ManagementRoute, RouteRow } from './resource-routes.ts';
import * as domainSettings from './sender/domain-settings-routes.ts';
import * as domains from './sender/manage-domains-routes.ts';
import * as senders from './sender/manage-senders-routes.ts';
import * as suppressions from './suppression/manage-suppressions-routes.ts';
import * as templates from './template/manage-templates-routes.ts';
import { previewTemplate } from './template/preview-template-routes.ts';
import * as publishing from './template/publish-template-routes.ts';
import * as starters from './template/starter-routes.ts';
import { testSendTemplate } from './template/test-send-routes.ts';
import * as webhooks from './webhook/manage-webhooks-routes.ts';
import * as webhookLogs from './webhook/webhook-log-routes.ts';

const account = '/accounts/:accountId';
const template = `${account}/templates/:templateId`;
const list = `${account}/lists/:listId`;
const message = `${account}/messages/:messageId`;
const domain = `${account}/domains/:domain`;
const webhook = `${account}/webhooks/:webhookId`;
const integration = `${account}/integrations/:clientId`;

/**
 * All endpoints of the management API and the access they require. The standard endpoints of a resource are defined in
 * the file of that resource (see `resource-routes.ts`).
 */
const rows: readonly RouteRow[] = [
  ['GET', '/set-up', 'public', setUps.getSetUp],
  ['POST', '/set-up', 'public', setUps.setUp],
  ['GET', '/me', 'signed-in', me.getMe],
  ['DELETE', '/me/session', 'signed-in', me.signOutMe],

  ['GET', '/installation/settings', 'signed-in', installation.getSettings],
  ['GET', '/installation/backup', 'operate', installation.getBackup],
  ...accounts.anyAccountRoutes,
  ...peopleRoutes,
  ...installation.operatorRoutes,
  ['GET', '/installation/mail-templates', 'operate', mailTemplates.listMailTemplates],
  ...mailTemplates.mailTemplateRoutes,
  ['GET', '/installation/processes', 'operate', installation.listServiceProcesses],
  ['GET', '/installation/receivers', 'operate', receivers.listReceivers],
  ...receivers.receiverSettingsRoutes,
  ['GET', '/installation/tls-results', 'operate', tlsResults.listTlsResults],
  ['GET', '/installation/tls-reports/:domain', 'operate', tlsResults.getTlsReport],
  ['GET', '/installation/integrations/:clientId/allowance', 'operate', integrations.getAllowance],
  ['PUT', '/installation/integrations/:clientId/allowance', 'operate', integrations.putAllowance],
  ['GET', '/installation/audit', 'operate', audit.listInstallationAuditEvents],

  ...accounts.accountRoutes,
  ...policyRoutes,
  ...signInProviderRoutes,
  ['GET', `${account}/quota-use`, 'account:read', accounts.getQuotaUse],
  ['GET', `${account}/failed-requests`, 'messages:read', listFailedRequests],
  ['GET', `${account}/audit`, 'audit:read', audit.listAuditEvents],
  ['GET', `${account}/audit-export`, 'audit:read', audit.exportAuditEvents],

  ...users.userRoutes,
  ['POST', `${account}/users/:email/invitation`, 'users:write', users.resendInvitation],

  ...senders.senderRoutes,
  ['POST', `${account}/senders/:address/link`, 'senders:write', senders.mailSenderLink],

  ['GET', `${account}/domains`, 'domains:read', domains.listDomains],
  ['GET', domain, 'domains:read', domains.getDomain],
  ['PUT', domain, 'domains:write', domains.putDomain],
  ['DELETE', domain, 'domains:write', domains.deleteDomain],
  ['GET', `${domain}/settings`, 'domains:read', domainSettings.getDomainSettings],
  ['PUT', `${domain}/settings`, 'domains:write', domainSettings.putDomainSettings],
  ['POST', `${domain}/check`, 'domains:write', domains.checkDomain],
  ['POST', `${domain}/rotate-keys`, 'domains:write', domains.rotateDomainKeys],

  ...integrations.integrationRoutes,
  ['POST', `${integration}/secret`, 'integrations:write', integrations.rotateIntegrationSecret],
  ['GET', `${integration}/allowance-uses`, 'integrations:read', integrations.listAllowanceUses],
  ['GET', `${integration}/consents`, 'integrations:read', integrations.listConsents],
  ['DELETE', `${integration}/consents/:email`, 'integrations:write', integrations.deleteConsent],

  ['GET', `${account}/keys`, 'keys:read', apiKeys.listApiKeys],
  ['POST', `${account}/keys`, 'keys:write', apiKeys.createApiKey],
  ['POST', `${account}/keys/:keyId/rotate`, 'keys:write', apiKeys.rotateApiKey],
  ['DELETE', `${account}/keys/:keyId`, 'keys:write', apiKeys.deleteApiKey],

  ['GET', `${account}/images`, 'templates:read', hostedImages.listHostedImages],
  ['POST', `${account}/images`, 'templates:write', hostedImages.uploadHostedImage, 'content'],
  ...hostedImages.hostedImageRoutes,

  ...templates.templateRoutes,
  ...templates.draftRoutes,
  ['GET', `${account}/template-starters`, 'templates:read', starters.listStarters],
  ['GET', `${account}/template-starters/:starterId`, 'templates:read', starters.getStarter],
  ['POST', `${template}/preview`, 'templates:read', previewTemplate, 'content'],
  ['POST', `${template}/test-send`, 'messages:test', testSendTemplate, 'values'],
  ['POST', `${template}/publish`, 'templates:publish', publishing.publishTemplate],
  ['POST', `${template}/roll-back`, 'templates:publish', publishing.rollBackTemplate],
  ['POST', `${template}/duplicate`, 'templates:write', publishing.duplicateTemplate],
  ['GET', `${template}/versions`, 'templates:read', templates.listVersions],
  ['GET', `${template}/versions/:version`, 'templates:read', templates.getVersion],
  ['GET', `${template}/images/:sha256`, 'templates:read', templates.getTemplateImage],

  ...lists.listRoutes,
  ...lists.contactRoutes,
  ['GET', `${list}/export`, 'contacts:read', lists.exportContacts],
  ...lists.contactImportRoutes,

  ['GET', `${account}/events`, 'messages:read', listEvents],

  ['GET', `${account}/messages`, 'messages:read', messages.listMessages],
  ['GET', `${account}/messages-export`, 'messages:read', messages.exportMessages],
  ...savedFilterRoutes,
  ['GET', message, 'messages:read', messages.getMessage],
  ['GET', `${message}/attachments/:attachment`, 'messages:read', messages.getMessageAttachment],
  ['GET', `${message}/images/:sha256`, 'messages:read', messages.getMessageImage],
  ['GET', `${message}/rendered`, 'messages:read', messages.getRenderedMessage],
  ['POST', `${message}/pause`, 'messages:control', messageControls.pauseMessage],
  ['POST', `${message}/resume`, 'messages:control', messageControls.resumeMessage],
  ['POST', `${message}/cancel`, 'messages:control', messageControls.cancelMessage],
  ['POST', `${message}/retry`, 'messages:control', messageControls.retryMessage],
  ['POST', `${message}/resend`, 'messages:control', messageControls.resendMessage],
  ['POST', `${message}/revoke-links`, 'messages:control', messageControls.revokeLinks],

  ['GET', `${account}/replies`, 'messages:read', replies.listMessageReplies],
  ['GET', `${account}/replies/:replyId`, 'messages:read', replies.getReply],
  ['GET', `${account}/replies/:replyId/parts/:part`, 'messages:read', replies.getReplyPart],

  ['GET', `${account}/queue`, 'queue:read', queue.getQueue],
  ['GET', `${account}/queue/pauses/:destination`, 'queue:read', queue.getPause],
  ['PUT', `${account}/queue/pauses/:destination`, 'queue:control', queue.pauseDestination],
  ['DELETE', `${account}/queue/pauses/:destination`, 'queue:control', queue.resumeDestination],
  ['POST', `${account}/queue/retry`, 'queue:control', queue.retryQueue],
  ['POST', `${account}/queue/cancel`, 'queue:control', queue.cancelQueue],

  ['GET', `${account}/scheduled-messages`, 'queue:read', scheduled.listScheduledMessages],
  ['POST', `${account}/scheduled-messages/move`, 'queue:control', scheduled.moveScheduledMessages],
  [
    'POST',
    `${account}/scheduled-messages/cancel`,
    'queue:control',
    scheduled.cancelScheduledMessages,
  ],

  ['GET', `${account}/suppressions`, 'suppressions:read', suppressions.listSuppressions],
  ...suppressions.suppressionRoutes,
  [
    'GET',
    `${account}/suppressions-export`,
    'suppressions:read',
    suppressions.exportSuppressionList,
  ],
  ...suppressions.suppressionImportRoutes,

  ['GET', `${account}/webhooks`, 'webhooks:read', webhooks.listWebhooks],
  ['POST', `${account}/webhooks`, 'webhooks:write', webhooks.createWebhook],
  ...webhooks.webhookRoutes,
  ['POST', `${webhook}/secret`, 'webhooks:write', webhooks.rotateWebhookSecret],
  ['POST', `${webhook}/pause`, 'webhooks:write', webhooks.pauseWebhook],
  ['POST', `${webhook}/resume`, 'webhooks:write', webhooks.resumeWebhook],
  ['GET', `${webhook}/deliveries`, 'webhooks:read', webhookLogs.listWebhookDeliveries],
  ['GET', `${webhook}/deliveries/:eventId`, 'webhooks:read', webhookLogs.getWebhookDelivery],
  ['POST', `${webhook}/replay`, 'webhooks:write', webhookLogs.replayWebhook],
  ['GET', `${webhook}/replays`, 'webhooks:read', webhookLogs.listWebhookReplays],
  ['POST', `${webhook}/test`, 'webhooks:write', webhookLogs.testWebhook],

  ['GET', `${account}/outbox-sources`, 'outbox:read', outbox.listOutboxSources],
  ...outbox.outboxSourceRoutes,
  ['POST', `${account}/outbox-sources/:sourceId/retry`, 'outbox:write', outbox.retryOutboxRows],

  ['GET', `${account}/attention`, 'reports:read', attention.getAttention],
  ['GET', `${account}/send-readiness`, 'account:read', attention.getSendReadiness],
  ['GET', `${account}/reports`, 'reports:read', reports.getReport],
  ['GET', `${account}/reports-export`, 'reports:read', reports.exportReport],

  ...privacy.retentionRuleRoutes,
  ['GET', `${account}/people/:address`, 'privacy:read', privacy.exportPersonData],
  ['DELETE', `${account}/people/:address`, 'privacy:write', privacy.erasePersonData],

  ...inboxRoutes,
];

export const routeTable: readonly ManagementRoute[] = rows.map(
  ([method, path, access, operation, size]) => ({
    method,
    path,
    access,
    operation,
    size,
  }),
);
