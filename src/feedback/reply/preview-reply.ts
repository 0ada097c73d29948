import type { ParsedReplyPart } from './reply-content.ts';

/** Characters. */
const maxPreview = 120;
/** Bytes of the text that are searched. */
const maxSearchedBytes = 4_096;

/** The first line of a reply's text that doesn't quote; empty if there is none. */
export function previewReply(parts: readonly ParsedReplyPart[]): string {
  const start = parts.find(({ kind }) => kind === 'text')?.content.subarray(0, maxSearchedBytes);
  // Drops a character that is cut in two.
  const lines = new TextDecoder().decode(start, { stream: true }).split(/[\r\n]+/);
  const line = lines.map((one) => one.trim()).find((one) => one !== '' && !one.startsWith('>'));
  return [...(line ?? '')].slice(0, maxPreview).join('');
}
