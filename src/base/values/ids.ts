import { makeUuid7 } from './uuid7.ts';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type AccountId = Branded<'AccountId'>;
export type TemplateId = Branded<'TemplateId'>;
export type PersonId = Branded<'PersonId'>;
export type ClientId = Branded<'ClientId'>;
export type MessageId = Branded<'MessageId'>;
export type ListId = Branded<'ListId'>;

const publicId = /^[A-Za-z0-9_-]{1,64}$/;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True for IDs chosen by people: 1 to 64 letters, digits, `-` and `_`. */
export function isPublicId(text: string): boolean {
  return publicId.test(text);
}

/** Parses an account ID; undefined if malformed. */
export function parseAccountId(text: string): AccountId | undefined {
  return publicId.test(text) ? (text as AccountId) : undefined;
}

/** Parses a template ID; undefined if malformed. */
export function parseTemplateId(text: string): TemplateId | undefined {
  return publicId.test(text) ? (text as TemplateId) : undefined;
}

/** Parses a client ID; undefined if malformed. */
export function parseClientId(text: string): ClientId | undefined {
  return publicId.test(text) ? (text as ClientId) : undefined;
}

/** Parses a message ID, a UUID in any case; undefined if malformed. */
export function parseMessageId(text: string): MessageId | undefined {
  const lower = text.toLowerCase();
  return uuid.test(lower) ? (lower as MessageId) : undefined;
}

/** A new message ID: a UUID v7 (RFC 9562 section 5.7), whose time determines the message's partition. */
export function newMessageId(): MessageId {
  return makeUuid7() as MessageId;
}

/** A new person id. */
export function newPersonId(): PersonId {
  return makeUuid7() as PersonId;
}

/** A new id for internal rows: events, inbox messages, requests. */
export function newId(): string {
  return makeUuid7();
}
