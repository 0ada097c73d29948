/** A reply of an SMTP server (RFC 5321 section 4.2). */
export interface Reply {
  /** 0 where the server said something that is no reply. */
  readonly code: number;
  /** `5.1.1` (RFC 3463), where the server gave one. */
  readonly enhanced: string | undefined;
  /** Without the codes, lines joined by a space, cut to a length that every store takes. */
  readonly text: string;
}

/** Most characters of a reply's text that are kept. RFC 5321 section 4.5.3.1.5 allows 512 a line, servers send more. */
export const maxReplyLength = 1_000;

const maxLines = 50;
const linePattern = /^(\d{3})(?:[ -]|$)(?:#?([245]\.\d{1,3}\.\d{1,3})(?:\s+|$))?(.*)$/;
/** Where older servers put it: `550 sorry, no mailbox here (#5.1.1)`. */
const enhancedAtEnd = /\(#([245]\.\d{1,3}\.\d{1,3})\)/;

/** Reads a reply of one or many lines. Total: whatever a server sends becomes a reply. */
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

/** The reply as one line: `550 5.1.1 no such user`. */
export function formatReply(reply: Reply): string {
  return [reply.code === 0 ? undefined : reply.code, reply.enhanced, reply.text]
    .filter((part) => part !== undefined && part !== '')
    .join(' ');
}

function clean(text: string): string {
  const plain = text.replace(/\p{Cc}+/gu, ' ').toWellFormed();
  return plain.length <= maxReplyLength ? plain : `${plain.slice(0, maxReplyLength - 1)}…`;
}
