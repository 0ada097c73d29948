/**
 * What a node does:
 * - `http` serves programs and recipients: tokens, sends, status, lists, tracking links, hosted images, relays' reports.
 * - `management` serves people and their tools: the console, sign-in, the management API, the inbox.
 * - `smtp` receives over SMTP: submission, and bounces and replies.
 * - `worker` delivers messages and webhooks and does the background work.
 * - `outbox` reads the outboxes of accounts: tables of their own databases whose rows are sent.
 */
export const nodeRoles = ['http', 'management', 'smtp', 'worker', 'outbox'] as const;

export type NodeRole = (typeof nodeRoles)[number];
