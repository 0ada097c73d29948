import { type Static, Type } from 'typebox';
import { NamedObject, Nullable, strict, Text } from '../../base/values/common-schemas.ts';

/** A name and address that a header of a reply claims. */
export const MailboxSchema = NamedObject('ReplyMailbox', {
  address: Type.String(),
  name: Text('Empty if there is none.'),
});

export type ReplyMailbox = Static<typeof MailboxSchema>;

/** Results of RFC 8601 section 2.7. */
export const authenticationResults = [
  'pass',
  'fail',
  'softfail',
  'neutral',
  'none',
  'policy',
  'temperror',
  'permerror',
] as const;

const CheckResult = NamedObject('AuthenticationResult', {
  result: Type.Enum([...authenticationResults]),
  domain: Nullable(Text('The domain that it is about.')),
});

export type AuthenticationResult = Static<typeof CheckResult>;

/**
 * Whether a reply is from the domains it names: `spf` is of the envelope sender, or the client's name if there is none (RFC 7208);
 * `dkim` of the best signature: one of the From domain, else any that passes, else the first (RFC 6376); `dmarc` of the From
 * domain (RFC 7489).
 */
export const AuthenticationSchema = Type.Object(
  {
    spf: CheckResult,
    dkim: CheckResult,
    dmarc: CheckResult,
  },
  {
    ...strict,
    title: 'ReplyAuthentication',
    description:
      'SPF of the envelope sender, DKIM of the best signature, and DMARC of the From domain.',
  },
);

export type ReplyAuthentication = Static<typeof AuthenticationSchema>;

/** A text, HTML or attachment of a reply; its content is stored by its hash. */
export interface ReplyPart {
  readonly kind: 'text' | 'html' | 'attachment';
  readonly filename: string;
  readonly contentType: string;
  readonly contentId: string | null;
  /** Bytes; texts are stored in UTF-8. */
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
}

/** The header of a reply. */
export interface ReplyHead {
  readonly from: ReplyMailbox | null;
  readonly to: readonly ReplyMailbox[];
  readonly cc: readonly ReplyMailbox[];
  readonly replyTo: readonly ReplyMailbox[];
  readonly subject: string;
  /** RFC 3339; null if there is none or it isn't a date. */
  readonly date: string | null;
  readonly messageId: string | null;
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
  /** The keyword of Auto-Submitted (RFC 3834 section 5), in lower case. */
  readonly autoSubmitted: string | null;
}

/** `message_reply.content`: all personal data of a reply. Erasing this one value erases it. */
export interface ReplyContent extends ReplyHead {
  /** MAIL FROM; empty for bounces and other automatic mail. */
  readonly envelopeFrom: string;
  readonly authentication: ReplyAuthentication;
  /** The first line of its text; older replies have none. */
  readonly preview?: string;
  /** Its parts couldn't be read; the only one is the whole mail. */
  readonly unread?: boolean;
  readonly parts: readonly ReplyPart[];
}

/** A part with its content. */
export interface ParsedReplyPart extends Omit<ReplyPart, 'size' | 'sha256'> {
  readonly content: Uint8Array;
}

/** A reply as its sender wrote it. */
export interface ParsedReply {
  readonly head: ReplyHead;
  /** A program (RFC 3834) or a mailing list sent it. */
  readonly automatic: boolean;
  /** Its parts couldn't be read; the only one is the whole mail. */
  readonly unread: boolean;
  readonly parts: readonly ParsedReplyPart[];
}

/** The origin of a reply. */
export interface ReplyOrigin {
  readonly remoteAddress: string;
  readonly helo: string;
  /** MAIL FROM; empty for bounces. */
  readonly envelopeFrom: string;
}
