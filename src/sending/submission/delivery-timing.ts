import type { FaultDetail } from '../../base/values/errors.ts';
import { parseTimestamp } from '../../base/values/parse-timestamp.ts';
import type { ContentMembers } from '../../content/message/message-content.ts';
import { scheduledClass } from '../../content/message/scheduled-class.ts';
import type { AcceptRow } from './accept-row.ts';

/** When to deliver a message, as its request says. */
export interface DeliveryTiming {
  /** When the request was validated, in milliseconds since the epoch. */
  readonly now: number;
  readonly sendAt: Date | undefined;
  readonly deliverBefore: Date | undefined;
  /** True to use the template version that is published at the send time. */
  readonly dueVersion: boolean;
}

const minuteMs = 60_000;
/** How far `sendAt` can be in the past: delays and clock differences of callers. */
const maxPastMs = 5 * minuteMs;
const maxDaysAhead = 365;
const maxAheadMs = maxDaysAhead * 24 * 60 * minuteMs;

/** RFC 3339 section 5.6, whose offset is required. */
const timePattern =
  /^\d{4}-\d{2}-\d{2}[Tt](?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** Max characters of a timestamp that matches. */
export const maxTimestampLength = 35;

/** The raw members of `actions`; an empty string means absent. */
interface TimingMembers {
  readonly sendAt?: unknown;
  readonly deliverBefore?: unknown;
  readonly templateVersion?: unknown;
}

/**
 * Reads `actions.sendAt`, `deliverBefore` and `templateVersion`, and adds a detail for each problem.
 * @param now in milliseconds since the epoch
 * @returns undefined if the request has none of them
 */
export function readTiming(
  members: TimingMembers,
  now: () => number,
  details: FaultDetail[],
): DeliveryTiming | undefined {
  const { sendAt, deliverBefore, templateVersion } = members;
  if (isAbsent(sendAt) && isAbsent(deliverBefore) && isAbsent(templateVersion)) return undefined;
  const time = now();
  const start = readTime(sendAt, 'actions.sendAt', details);
  const end = readTime(deliverBefore, 'actions.deliverBefore', details);
  const problem = start && problemOfSendAt(start, time);
  if (problem !== undefined) details.push({ field: 'actions.sendAt', reason: problem });
  if (end !== undefined && end.getTime() <= time)
    details.push({ field: 'actions.deliverBefore', reason: 'is in the past; use a later time' });
  else if (end !== undefined && start !== undefined && end <= start)
    details.push({
      field: 'actions.deliverBefore',
      reason: 'must be after actions.sendAt; use a later time',
    });
  return {
    now: time,
    sendAt: start,
    deliverBefore: end,
    dueVersion: templateVersion === 'due',
  };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === '';
}

function readTime(value: unknown, field: string, details: FaultDetail[]): Date | undefined {
  if (typeof value !== 'string' || value === '' || value.length > maxTimestampLength)
    return undefined;
  const time = parseRfc3339(value);
  if (time === undefined) details.push({ field, reason: notATime });
  return time;
}

const notATime = 'must be an RFC 3339 time with an offset, such as 2026-01-31T12:00:00Z';

function parseRfc3339(text: string): Date | undefined {
  return timePattern.test(text) ? parseTimestamp(text.toUpperCase()) : undefined;
}

function problemOfSendAt(sendAt: Date, now: number): string | undefined {
  if (sendAt.getTime() < now - maxPastMs)
    return 'is more than 5 minutes in the past; use a later time';
  if (sendAt.getTime() > now + maxAheadMs)
    return `is more than ${maxDaysAhead} days ahead; use an earlier time`;
  return undefined;
}

/** A new send time within the limits of `actions.sendAt`, or what is wrong with it. */
export function checkSendAt(text: string, now: number): Date | { readonly reason: string } {
  const sendAt = parseRfc3339(text);
  if (sendAt === undefined) return { reason: notATime };
  const reason = problemOfSendAt(sendAt, now);
  return reason === undefined ? sendAt : { reason };
}

/** The send time if it is still ahead. */
function futureSendAt(timing: DeliveryTiming | undefined): Date | undefined {
  const sendAt = timing?.sendAt;
  return sendAt !== undefined && timing !== undefined && sendAt.getTime() > timing.now
    ? sendAt
    : undefined;
}

/** What the content of a message says about its timing. */
export function scheduleMembers(
  timing: DeliveryTiming | undefined,
): Pick<ContentMembers, 'sendAt' | 'templateVersion' | 'checkedAtDue'> {
  const sendAt = futureSendAt(timing)?.toISOString();
  const followsVersion = sendAt !== undefined && timing?.dueVersion === true;
  return {
    sendAt,
    templateVersion: followsVersion ? 'due' : undefined,
    checkedAtDue: undefined,
  };
}

/** The retention class of a message. */
export function retentionClassOf(days: number, timing: DeliveryTiming | undefined): number {
  return futureSendAt(timing) === undefined ? days : scheduledClass(days);
}

/** The same row with its timing. The lifetime counts from the send time, also if that has just passed. */
export function withTiming(row: AcceptRow, timing: DeliveryTiming | undefined): AcceptRow {
  if (timing === undefined) return row;
  const sendAt = futureSendAt(timing);
  const { deliverBefore } = timing;
  if (sendAt === undefined) {
    const late = timing.sendAt === undefined ? 0 : (timing.now - timing.sendAt.getTime()) / 1_000;
    const lifetimeSeconds = Math.ceil(row.lifetimeSeconds - late);
    if (deliverBefore === undefined) return { ...row, lifetimeSeconds };
    return { ...row, lifetimeSeconds, timing: { sendAt, deliverBefore } };
  }
  return {
    ...row,
    retentionDays: retentionClassOf(row.retentionDays, timing),
    timing: { sendAt, deliverBefore },
  };
}
