export type { Listing, MessageStatus } from './api.generated.ts';
export type { CallOptions } from './connection.ts';
export * from './errors.ts';
export type {
  EventKind,
  EventPage,
  EventQuery,
  Events,
  ListedEvent,
  SignalpostEvent,
} from './events.ts';
export type { Address, Attachment, Message, Value } from './message.ts';
export type { Grant, OAuthOptions } from './oauth.ts';
export * as outbox from './outbox.ts';
export {
  type BatchResult,
  type KeyOptions,
  type Sent,
  Signalpost,
  type SignalpostWithToken,
  type TokenOptions,
  type WaitOptions,
} from './signalpost.ts';
export type { SuppressionReason, Suppressions } from './suppressions.ts';
export type { TemplateId, Templates } from './templates.ts';
export { memoryStore, type TokenStore, type Tokens } from './token-store.ts';
export * as webhooks from './webhooks.ts';
