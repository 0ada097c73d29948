import type { MasterKey } from '../../base/secrets/master-key.ts';
import { SignedTokens } from '../../base/secrets/signed-tokens.ts';
import { ByteReader, ByteWriter } from '../../base/values/byte-fields.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';
import { timeOfId } from '../../base/values/uuid7.ts';
import { member } from './read-body-json.ts';

/** Seconds after the accept for which a status link works. */
export const statusSeconds = 900;

/** What a request says about its status link. */
export interface StatusRequest {
  /** The link doesn't tell a message that waits from one that will never arrive. */
  readonly isPrivate: boolean;
  /** Seconds after the accept when the page offers to send again; 0: never. */
  readonly resendAfterSeconds: number;
}

/** `actions.statusToken` of a valid body. */
export type StatusMember =
  | boolean
  | { readonly private?: boolean; readonly resendAfterSeconds?: number };

/** @returns undefined if the request asks for no link */
export function readStatusRequest(member: StatusMember | undefined): StatusRequest | undefined {
  if (member === undefined || member === false) return undefined;
  const { private: isPrivate = false, resendAfterSeconds = 0 } = member === true ? {} : member;
  return { isPrivate, resendAfterSeconds };
}

/** What a send body that has been valid asks for. */
export function statusRequestIn(body: unknown): StatusRequest | undefined {
  return readStatusRequest(member(member(body, 'actions'), 'statusToken') as StatusMember);
}

/** Makes the status links of one request. */
export interface StatusLink {
  readonly isPrivate: boolean;
  readonly urlOf: (messageId: MessageId) => string;
}

/** The member of a JSON response after others; empty if there is no link. */
export function statusMember(statusUrl: string | undefined): string {
  return statusUrl === undefined ? '' : `,"statusUrl":${JSON.stringify(statusUrl)}`;
}

/** All data of a status link; there is no table row behind it. */
export interface StatusTarget extends StatusRequest {
  readonly accountId: AccountId;
  /** A link of a message that wasn't accepted has the ID that it would have had. */
  readonly messageId: MessageId;
  readonly acceptedAt: Date;
  readonly expiresAt: Date;
}

/**
 * Links to the progress of one message, for the person who waits for it. The time of a token is that of the message ID, so a
 * replayed request gets the same link.
 */
export class StatusLinks {
  readonly #tokens: SignedTokens;
  readonly #publicUrl: () => string;

  /** @param publicUrl without a trailing slash */
  constructor(key: MasterKey, publicUrl: () => string) {
    this.#tokens = new SignedTokens(key.keysFor('status link'));
    this.#publicUrl = publicUrl;
  }

  /** @returns undefined if the request asks for no link */
  for(accountId: AccountId, request: StatusRequest | undefined): StatusLink | undefined {
    if (request === undefined) return undefined;
    const { isPrivate, resendAfterSeconds } = request;
    const urlOf = (messageId: MessageId): string => {
      const content = new ByteWriter().uuid(messageId).text(accountId);
      content.number(resendAfterSeconds * 2 + Number(isPrivate));
      return `${this.#publicUrl()}/status/${this.#tokens.make(content.finish())}`;
    };
    return { isPrivate, urlOf };
  }

  /** A token's data, also after its time; undefined if it wasn't made here. Safe for untrusted input. */
  read(token: string): StatusTarget | undefined {
    const content = this.#tokens.read(token);
    if (content === undefined) return undefined;
    const reader = new ByteReader(content);
    const messageId = reader.uuid() as MessageId;
    const accountId = reader.text() as AccountId;
    const options = reader.number();
    const isPrivate = options % 2 === 1;
    const resendAfterSeconds = options >> 1;
    const acceptedAt = timeOfId(messageId);
    const expiresAt = new Date(acceptedAt.getTime() + statusSeconds * 1_000);
    return { accountId, messageId, isPrivate, resendAfterSeconds, acceptedAt, expiresAt };
  }
}
