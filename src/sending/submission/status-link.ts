import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { PurposeKeys } from '../../base/secrets/purpose-keys.ts';
import { type AccountId, type MessageId, parseAccountId } from '../../base/values/ids.ts';
import { formatUuid, timeOfId } from '../../base/values/uuid7.ts';

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

const macBytes = 16;
const idBytes = 16;
const flagBytes = 2;
/** Above the bits of the seconds. */
const privateBit = 1 << 15;

/**
 * Links to the progress of one message, for the person who waits for it. A token is signed with HMAC-SHA256, truncated to 128 bits
 * (RFC 2104 section 5). Its time is that of the message ID, so a replayed request gets the same link.
 */
export class StatusLinks {
  readonly #keys: PurposeKeys;
  readonly #publicUrl: () => string;

  /** @param publicUrl without a trailing slash */
  constructor(key: MasterKey, publicUrl: () => string) {
    this.#keys = key.keysFor('status link');
    this.#publicUrl = publicUrl;
  }

  /** @returns undefined if the request asks for no link */
  for(accountId: AccountId, request: StatusRequest | undefined): StatusLink | undefined {
    if (request === undefined) return undefined;
    const { isPrivate, resendAfterSeconds } = request;
    const flags = Buffer.alloc(flagBytes);
    flags.writeUInt16BE((isPrivate ? privateBit : 0) | resendAfterSeconds);
    const urlOf = (messageId: MessageId): string => {
      const id = Buffer.from(messageId.replaceAll('-', ''), 'hex');
      const content = Buffer.concat([id, flags, Buffer.from(accountId)]);
      const mac = this.#keys.sign(content).subarray(0, macBytes);
      const token = Buffer.concat([mac, content]).toString('base64url');
      return `${this.#publicUrl()}/status/${token}`;
    };
    return { isPrivate, urlOf };
  }

  /** A token's data, also after its time; undefined if it wasn't made here. Safe for untrusted input. */
  read(token: string): StatusTarget | undefined {
    const bytes = Buffer.from(token, 'base64url');
    const content = bytes.subarray(macBytes);
    const isSigned = this.#keys.verify(content, bytes.subarray(0, macBytes), macBytes);
    // Another spelling of the same bytes would count as another token.
    if (!isSigned || bytes.toString('base64url') !== token) return undefined;
    const accountId = parseAccountId(content.toString('latin1', idBytes + flagBytes));
    if (accountId === undefined) return undefined;
    const messageId = formatUuid(content.subarray(0, idBytes)) as MessageId;
    const flags = content.readUInt16BE(idBytes);
    const isPrivate = (flags & privateBit) !== 0;
    const resendAfterSeconds = flags & ~privateBit;
    const acceptedAt = timeOfId(messageId);
    const expiresAt = new Date(acceptedAt.getTime() + statusSeconds * 1_000);
    return { accountId, messageId, isPrivate, resendAfterSeconds, acceptedAt, expiresAt };
  }
}
