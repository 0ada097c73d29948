const mebibyte = 1_024 * 1_024;

/** Max bytes of a reply, announced in EHLO (RFC 1870); as much as the largest providers send. */
export const maxReplyBytes = 25 * mebibyte;
/** Max attachments of a reply, besides its text and HTML. */
export const maxReplyAttachments = 50;

/**
 * Max stored replies to one message, and their bytes: anyone with the message knows its reply address, and must not be able to
 * fill the disk.
 */
export const maxMessageReplies = 100;
export const maxMessageReplyBytes = 100 * mebibyte;
/** Per hour, for all messages of an account. */
export const maxHourlyReplies = 1_000;
export const maxHourlyReplyBytes = 500 * mebibyte;

/** Per hour, for an account's messages to one address, so that nobody can use up the account's limit. */
export const maxHourlyRecipientReplies = maxHourlyReplies / 10;
export const maxHourlyRecipientReplyBytes = maxHourlyReplyBytes / 5;

/** RFC 5321 section 6.3: more Received fields indicate a loop. */
export const maxHops = 50;
