/**
 * What a node does:
 * - `http` serves programs and recipients: tokens, sends, status, lists, tracking links, hosted images, relays' reports.
 * - `management` serves people and their tools: the console, sign-in, the management API, the inbox.
 * - `smtp` receives over SMTP: submission, and bounces and replies.
 * - `worker` delivers messages and webhooks and does the background work.
 */
export const nodeRoles = ['http', 'management', 'smtp', 'worker'] as const;

export type NodeRole = (typeof nodeRoles)[number];
