/** An SMTP server's reply (RFC 5321 section 4.2). */
export interface Reply {
  /** 0 if the server sent something that isn't a valid reply. */
  readonly code: number;
  /** `5.1.1` (RFC 3463), if the server sent one. */
  readonly enhanced: string | undefined;
  /** Without the codes, lines joined by spaces, truncated. */
  readonly text: string;
}

/** Max stored length of a reply's text. RFC 5321 section 4.5.3.1.5 allows 512 per line; servers send more. */
export const maxReplyLength = 1_000;

const maxLines = 50;
const linePattern = /^(\d{3})(?:[ -]|$)(?:#?([245]\.\d{1,3}\.\d{1,3})(?:\s|$))?(.*)$/;
/** Where older servers put the code: `550 sorry, no mailbox here (#5.1.1)`. */
const enhancedAtEnd = /\(#([245]\.\d{1,3}\.\d{1,3})\)/;

/** Parses a single- or multiline reply. Never throws, whatever the server sends. */
export function parseReply(response: string): Reply {
  let code = 0;
  let enhanced: string | undefined;
  const texts: string[] = [];
  for (const line of response.slice(0, 64_000).split(/\r?\n/, maxLines)) {
    const match = linePattern.exec(line);
    if (code === 0 && match !== null) code = Number(match[1]);
    enhanced ??= match?.[2] ?? enhancedAtEnd.exec(line)?.[1];
    const text = (match === null ? line : (match[3] ?? '')).trim();
    if (text !== '') texts.push(text);
  }
  return { code, enhanced, text: clean(texts.join(' ')) };
}

/** Formats the reply on one line: `550 5.1.1 no such user`. */
export function formatReply(reply: Reply): string {
  return [reply.code === 0 ? undefined : reply.code, reply.enhanced, reply.text]
    .filter((part) => part !== undefined && part !== '')
    .join(' ');
}

function clean(text: string): string {
  const plain = text.replace(/\p{Cc}+/gu, ' ').toWellFormed();
  return plain.length <= maxReplyLength ? plain : `${plain.slice(0, maxReplyLength - 1)}…`;
}
