import type { Message } from '../api/management.generated.ts';
import { text } from '../texts/text.ts';

/** Common members of event details; all optional. */
interface EventDetail {
  /** The reply of the receiving server. */
  readonly reply?: string;
  readonly reason?: string;
  /** The new send time. */
  readonly sendAt?: string;
  /** Whether a person asked for it. */
  readonly byHand: boolean;
  readonly replyId?: string;
  /** The other members, as short texts. */
  readonly lines: readonly string[];
  readonly transcript: readonly string[];
}

/** Parses the detail of an event, whose form depends on its kind. */
export function parseEventDetail(detail: unknown): EventDetail {
  if (typeof detail !== 'object' || detail === null)
    return { byHand: false, lines: [], transcript: [] };
  const { reply, reason, transcript, sendAt, replyId, ...rest } = detail as Record<string, unknown>;
  const lines = Object.entries(rest)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => describeMember(name, value))
    .filter((line) => line !== '');
  return {
    ...(typeof reply === 'string' && { reply }),
    ...(typeof reply === 'object' && reply !== null && { reply: describeReply(reply) }),
    ...(typeof reason === 'string' && { reason }),
    ...(typeof sendAt === 'string' && { sendAt }),
    ...(typeof replyId === 'string' && { replyId }),
    byHand: rest.by === 'hand',
    lines,
    transcript: readTranscript(transcript),
  };
}

/** Members that need no name, or are known by another one; empty for what only programs need. */
function describeMember(name: string, value: unknown): string {
  if (name === 'attempt') return text('event.attempt', { count: String(value) });
  if (name === 'server') return String(value);
  if (name === 'by' && value === 'hand') return '';
  if (name === 'stage' || name === 'automatic') return '';
  return `${name}: ${String(value)}`;
}

/** Whether an event is a reply that a program sent, or else a person. */
export function isReply({ kind, detail }: Message['events'][number], automatic: boolean): boolean {
  const isAutomatic = (detail as { automatic?: boolean } | null)?.automatic === true;
  return kind === 'replied' && isAutomatic === automatic;
}

function describeReply(reply: object): string {
  const { code, enhanced, text, lines } = reply as Record<string, unknown>;
  const words = Array.isArray(lines) ? lines.join(' ') : text;
  return [code, enhanced, words].filter((part) => part !== undefined && part !== null).join(' ');
}

function readTranscript(transcript: unknown): string[] {
  if (typeof transcript === 'string') return transcript.split('\n');
  if (!Array.isArray(transcript)) return [];
  return transcript.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
}
