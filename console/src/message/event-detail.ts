import type { Message } from '../api/management.generated.ts';
import { formatDuration } from '../format/format-number.ts';
import { text, textOr } from '../texts/text.ts';

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

/** Parses the detail of an event, whose form depends on its kind, in words, with the addresses of the message's recipients. */
export function parseEventDetail(
  detail: unknown,
  recipients: Message['recipients'] = [],
): EventDetail {
  if (typeof detail !== 'object' || detail === null)
    return { byHand: false, lines: [], transcript: [] };
  const { reply, reason, transcript, sendAt, replyId, ...rest } = detail as Record<string, unknown>;
  const unmask = (masked: string) => unmaskAddresses(masked, recipients);
  const lines = Object.entries(rest)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => describeMember(name, value))
    .filter((line) => line !== '');
  const words =
    typeof reply === 'object' && reply !== null ? describeReply(reply) : (reply as unknown);
  return {
    ...(typeof words === 'string' && { reply: unmask(words) }),
    // The reply is shown beside it.
    ...(typeof reason === 'string' && {
      reason: unmask(typeof words === 'string' ? reason.replace(`: ${words}`, '') : reason),
    }),
    ...(typeof sendAt === 'string' && { sendAt }),
    ...(typeof replyId === 'string' && { replyId }),
    byHand: rest.by === 'hand',
    lines: lines.map(unmask),
    transcript: readTranscript(transcript).map(unmask),
  };
}

/** Puts the recipients back into what a server said; without an erased address, its placeholder stays. */
export function unmaskAddresses(masked: string, recipients: Message['recipients']): string {
  return masked.replaceAll(/<{1,2}(?:to|cc (\d+))>{1,2}/g, (placeholder, index = '0') => {
    const address = recipients[Number(index)]?.address;
    return address == null ? placeholder : `<${address}>`;
  });
}

/** What only programs need. */
const hidden = new Set(['stage', 'automatic', 'header', 'permanent', 'code']);

/** A member as words; empty for what needs none. */
function describeMember(name: string, value: unknown): string {
  const shown = String(value);
  if (hidden.has(name) || (name === 'by' && value === 'hand')) return '';
  if (name === 'attempt') return text('event.attempt', { count: shown });
  if (name === 'retryInSeconds')
    return text('event.retryIn', {
      time: formatDuration(Math.max(1, Math.round(Number(value) / 60)) * 60_000),
    });
  if (name === 'afterDeliveryMs')
    return text('event.afterDelivery', { time: formatDuration(Number(value)) });
  if (name === 'cause') return textOr(`event.cause.${shown}`, shown.replaceAll('-', ' '));
  if (name === 'server' || name === 'message') return shown;
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return `${words}: ${value === true ? text('yes') : value === false ? text('no') : shown}`;
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
