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
/** The same for all messages of an account within an hour. */
export const maxHourlyReplies = 1_000;
export const maxHourlyReplyBytes = 500 * mebibyte;

/** The same for the messages of an account to one address, so that nobody can use up what others need. */
export const maxHourlyRecipientReplies = maxHourlyReplies / 10;
export const maxHourlyRecipientReplyBytes = maxHourlyReplyBytes / 5;

/** RFC 5321 section 6.3: with more Received fields, it is in a loop. */
export const maxHops = 50;
