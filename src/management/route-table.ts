import { accountRoutes, anyAccountRoutes, getQuotaUse } from './account/manage-account-routes.ts';
import { getMe, signOutMe } from './account/manage-me-routes.ts';
import { policyRoutes } from './account/manage-policy-routes.ts';
import { signInProviderRoutes } from './account/manage-sign-in-provider-routes.ts';
import { resendInvitation, userRoutes } from './account/manage-users-routes.ts';
import { getSetUp, setUp } from './account/set-up-routes.ts';
import {
  exportAuditEvents,
  listAuditEvents,
  listInstallationAuditEvents,
} from './audit/manage-audit-routes.ts';
import {
  hostedImageRoutes,
  listHostedImages,
  uploadHostedImage,
} from './image/manage-hosted-images-routes.ts';
import {
  deleteInboxMessage,
  emptyInbox,
  getInboxMessage,
  listInboxMessages,
} from './inbox/manage-inbox-routes.ts';
import {
  getBackup,
  getSettings,
  listServiceProcesses,
  operatorRoutes,
} from './installation/manage-installation-routes.ts';
import {
  listMailTemplates,
  mailTemplateRoutes,
} from './installation/manage-mail-templates-routes.ts';
import { peopleRoutes } from './installation/manage-people-routes.ts';
import { listReceivers, receiverSettingsRoutes } from './installation/manage-receivers-routes.ts';
import { getTlsReport, listTlsResults } from './installation/tls-results-routes.ts';
import {
  createApiKey,
  deleteApiKey,
  listApiKeys,
  rotateApiKey,
} from './integration/manage-api-keys-routes.ts';
import {
  deleteConsent,
  getAllowance,
  integrationRoutes,
  listAllowanceUses,
  listConsents,
  putAllowance,
  rotateIntegrationSecret,
} from './integration/manage-integrations-routes.ts';
import {
  contactRoutes,
  downloadRejectedContacts,
  exportContacts,
  getImport,
  listImports,
  listRoutes,
  putImport,
} from './list/manage-lists-routes.ts';
import { listEvents } from './message/account-events-routes.ts';
import {
  cancelMessage,
  pauseMessage,
  resendMessage,
  resumeMessage,
  retryMessage,
} from './message/control-messages-routes.ts';
import {
  exportMessages,
  getMessage,
  getRenderedMessage,
  listMessages,
} from './message/manage-messages-routes.ts';
import {
  cancelQueue,
  getPause,
  getQueue,
  pauseDestination,
  resumeDestination,
  retryQueue,
} from './message/manage-queue-routes.ts';
import {
  cancelScheduledMessages,
  listScheduledMessages,
  moveScheduledMessages,
} from './message/manage-scheduled-routes.ts';
import { getMessageAttachment, getMessageImage } from './message/message-parts-routes.ts';
import { getReply, getReplyPart, listMessageReplies } from './message/replies-routes.ts';
import { savedFilterRoutes } from './message/saved-filters-routes.ts';
import {
  erasePersonData,
  exportPersonData,
  getRetentionRule,
  putRetentionRule,
} from './privacy/manage-privacy-routes.ts';
import { getAttention, getSendReadiness } from './report/attention-routes.ts';
import { exportReport, getReport } from './report/manage-reports-routes.ts';
import type { ManagementRoute, RouteRow } from './resource-routes.ts';
import { getDomainSettings, putDomainSettings } from './sender/domain-settings-routes.ts';
import {
  checkDomain,
  deleteDomain,
  getDomain,
  listDomains,
  putDomain,
  rotateDomainKeys,
} from './sender/manage-domains-routes.ts';
import { mailSenderLink, senderRoutes } from './sender/manage-senders-routes.ts';
import {
  downloadRejectedSuppressions,
  exportSuppressionList,
  getSuppressionImport,
  importSuppressions,
  listSuppressionImports,
  listSuppressions,
  suppressionRoutes,
} from './suppression/manage-suppressions-routes.ts';
import {
  draftRoutes,
  getTemplateImage,
  getVersion,
  listVersions,
  templateRoutes,
} from './template/manage-templates-routes.ts';
import { previewTemplate } from './template/preview-template-routes.ts';
import {
  duplicateTemplate,
  publishTemplate,
  rollBackTemplate,
} from './template/publish-template-routes.ts';
import { getStarter, listStarters } from './template/starter-routes.ts';
import { testSendTemplate } from './template/test-send-routes.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  pauseWebhook,
  putWebhook,
  resumeWebhook,
  rotateWebhookSecret,
} from './webhook/manage-webhooks-routes.ts';
import {
  getWebhookDelivery,
  listWebhookDeliveries,
  listWebhookReplays,
  replayWebhook,
  testWebhook,
} from './webhook/webhook-log-routes.ts';

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
  ['GET', '/set-up', 'public', getSetUp],
  ['POST', '/set-up', 'public', setUp],
  ['GET', '/me', 'signed-in', getMe],
  ['DELETE', '/me/session', 'signed-in', signOutMe],

  ['GET', '/installation/settings', 'signed-in', getSettings],
  ['GET', '/installation/backup', 'operate', getBackup],
  ...anyAccountRoutes,
  ...peopleRoutes,
  ...operatorRoutes,
  ['GET', '/installation/mail-templates', 'operate', listMailTemplates],
  ...mailTemplateRoutes,
  ['GET', '/installation/processes', 'operate', listServiceProcesses],
  ['GET', '/installation/receivers', 'operate', listReceivers],
  ...receiverSettingsRoutes,
  ['GET', '/installation/tls-results', 'operate', listTlsResults],
  ['GET', '/installation/tls-reports/:domain', 'operate', getTlsReport],
  ['GET', '/installation/integrations/:clientId/allowance', 'operate', getAllowance],
  ['PUT', '/installation/integrations/:clientId/allowance', 'operate', putAllowance],
  ['GET', '/installation/audit', 'operate', listInstallationAuditEvents],

  ...accountRoutes,
  ...policyRoutes,
  ...signInProviderRoutes,
  ['GET', `${account}/quota-use`, 'account:read', getQuotaUse],
  ['GET', `${account}/audit`, 'audit:read', listAuditEvents],
  ['GET', `${account}/audit-export`, 'audit:read', exportAuditEvents],

  ...userRoutes,
  ['POST', `${account}/users/:email/invitation`, 'users:write', resendInvitation],

  ...senderRoutes,
  ['POST', `${account}/senders/:address/link`, 'senders:write', mailSenderLink],

  ['GET', `${account}/domains`, 'domains:read', listDomains],
  ['GET', domain, 'domains:read', getDomain],
  ['PUT', domain, 'domains:write', putDomain],
  ['DELETE', domain, 'domains:write', deleteDomain],
  ['GET', `${domain}/settings`, 'domains:read', getDomainSettings],
  ['PUT', `${domain}/settings`, 'domains:write', putDomainSettings],
  ['POST', `${domain}/check`, 'domains:write', checkDomain],
  ['POST', `${domain}/rotate-keys`, 'domains:write', rotateDomainKeys],

  ...integrationRoutes,
  ['POST', `${integration}/secret`, 'integrations:write', rotateIntegrationSecret],
  ['GET', `${integration}/allowance-uses`, 'integrations:read', listAllowanceUses],
  ['GET', `${integration}/consents`, 'integrations:read', listConsents],
  ['DELETE', `${integration}/consents/:email`, 'integrations:write', deleteConsent],

  ['GET', `${account}/keys`, 'keys:read', listApiKeys],
  ['POST', `${account}/keys`, 'keys:write', createApiKey],
  ['POST', `${account}/keys/:keyId/rotate`, 'keys:write', rotateApiKey],
  ['DELETE', `${account}/keys/:keyId`, 'keys:write', deleteApiKey],

  ['GET', `${account}/images`, 'templates:read', listHostedImages],
  ['POST', `${account}/images`, 'templates:write', uploadHostedImage, 'content'],
  ...hostedImageRoutes,

  ...templateRoutes,
  ...draftRoutes,
  ['GET', `${account}/template-starters`, 'templates:read', listStarters],
  ['GET', `${account}/template-starters/:starterId`, 'templates:read', getStarter],
  ['POST', `${template}/preview`, 'templates:read', previewTemplate, 'content'],
  ['POST', `${template}/test-send`, 'messages:test', testSendTemplate, 'values'],
  ['POST', `${template}/publish`, 'templates:publish', publishTemplate],
  ['POST', `${template}/roll-back`, 'templates:publish', rollBackTemplate],
  ['POST', `${template}/duplicate`, 'templates:write', duplicateTemplate],
  ['GET', `${template}/versions`, 'templates:read', listVersions],
  ['GET', `${template}/versions/:version`, 'templates:read', getVersion],
  ['GET', `${template}/images/:sha256`, 'templates:read', getTemplateImage],

  ...listRoutes,
  ...contactRoutes,
  ['GET', `${list}/export`, 'contacts:read', exportContacts],
  ['GET', `${list}/imports`, 'contacts:read', listImports],
  ['GET', `${list}/imports/:importId`, 'contacts:read', getImport],
  ['PUT', `${list}/imports/:importId`, 'contacts:write', putImport],
  ['GET', `${list}/imports/:importId/rejected`, 'contacts:read', downloadRejectedContacts],

  ['GET', `${account}/events`, 'messages:read', listEvents],

  ['GET', `${account}/messages`, 'messages:read', listMessages],
  ['GET', `${account}/messages-export`, 'messages:read', exportMessages],
  ...savedFilterRoutes,
  ['GET', message, 'messages:read', getMessage],
  ['GET', `${message}/attachments/:attachment`, 'messages:read', getMessageAttachment],
  ['GET', `${message}/images/:sha256`, 'messages:read', getMessageImage],
  ['GET', `${message}/rendered`, 'messages:read', getRenderedMessage],
  ['POST', `${message}/pause`, 'messages:control', pauseMessage],
  ['POST', `${message}/resume`, 'messages:control', resumeMessage],
  ['POST', `${message}/cancel`, 'messages:control', cancelMessage],
  ['POST', `${message}/retry`, 'messages:control', retryMessage],
  ['POST', `${message}/resend`, 'messages:control', resendMessage],

  ['GET', `${account}/replies`, 'messages:read', listMessageReplies],
  ['GET', `${account}/replies/:replyId`, 'messages:read', getReply],
  ['GET', `${account}/replies/:replyId/parts/:part`, 'messages:read', getReplyPart],

  ['GET', `${account}/queue`, 'queue:read', getQueue],
  ['GET', `${account}/queue/pauses/:destination`, 'queue:read', getPause],
  ['PUT', `${account}/queue/pauses/:destination`, 'queue:control', pauseDestination],
  ['DELETE', `${account}/queue/pauses/:destination`, 'queue:control', resumeDestination],
  ['POST', `${account}/queue/retry`, 'queue:control', retryQueue],
  ['POST', `${account}/queue/cancel`, 'queue:control', cancelQueue],

  ['GET', `${account}/scheduled-messages`, 'queue:read', listScheduledMessages],
  ['POST', `${account}/scheduled-messages/move`, 'queue:control', moveScheduledMessages],
  ['POST', `${account}/scheduled-messages/cancel`, 'queue:control', cancelScheduledMessages],

  ['GET', `${account}/suppressions`, 'suppressions:read', listSuppressions],
  ...suppressionRoutes,
  ['GET', `${account}/suppressions-export`, 'suppressions:read', exportSuppressionList],
  ['GET', `${account}/suppressions-imports`, 'suppressions:read', listSuppressionImports],
  ['GET', `${account}/suppressions-imports/:importId`, 'suppressions:read', getSuppressionImport],
  ['PUT', `${account}/suppressions-imports/:importId`, 'suppressions:write', importSuppressions],
  [
    'GET',
    `${account}/suppressions-imports/:importId/rejected`,
    'suppressions:read',
    downloadRejectedSuppressions,
  ],

  ['GET', `${account}/webhooks`, 'webhooks:read', listWebhooks],
  ['POST', `${account}/webhooks`, 'webhooks:write', createWebhook],
  ['GET', webhook, 'webhooks:read', getWebhook],
  ['PUT', webhook, 'webhooks:write', putWebhook],
  ['DELETE', webhook, 'webhooks:write', deleteWebhook],
  ['POST', `${webhook}/secret`, 'webhooks:write', rotateWebhookSecret],
  ['POST', `${webhook}/pause`, 'webhooks:write', pauseWebhook],
  ['POST', `${webhook}/resume`, 'webhooks:write', resumeWebhook],
  ['GET', `${webhook}/deliveries`, 'webhooks:read', listWebhookDeliveries],
  ['GET', `${webhook}/deliveries/:eventId`, 'webhooks:read', getWebhookDelivery],
  ['POST', `${webhook}/replay`, 'webhooks:write', replayWebhook],
  ['GET', `${webhook}/replays`, 'webhooks:read', listWebhookReplays],
  ['POST', `${webhook}/test`, 'webhooks:write', testWebhook],

  ['GET', `${account}/attention`, 'reports:read', getAttention],
  ['GET', `${account}/send-readiness`, 'account:read', getSendReadiness],
  ['GET', `${account}/reports`, 'reports:read', getReport],
  ['GET', `${account}/reports-export`, 'reports:read', exportReport],

  ['GET', `${account}/retention-rule`, 'privacy:read', getRetentionRule],
  ['PUT', `${account}/retention-rule`, 'privacy:write', putRetentionRule],
  ['GET', `${account}/people/:address`, 'privacy:read', exportPersonData],
  ['DELETE', `${account}/people/:address`, 'privacy:write', erasePersonData],

  ['GET', `${account}/inbox/messages`, 'inbox:read', listInboxMessages],
  ['GET', `${account}/inbox/messages/:inboxMessageId`, 'inbox:read', getInboxMessage],
  ['DELETE', `${account}/inbox/messages/:inboxMessageId`, 'inbox:write', deleteInboxMessage],
  ['DELETE', `${account}/inbox/messages`, 'inbox:write', emptyInbox],
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
