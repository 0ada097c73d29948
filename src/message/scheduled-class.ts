/**
 * Added to the retention class of a message with a send time. Such messages have their own partitions, because their
 * retention counts from a time that can be changed.
 */
export const scheduledClassOffset = 10_000;

/** The retention class of a message with a send time. @param days the class of its account */
export function scheduledClass(days: number): number {
  return days + scheduledClassOffset;
}

/** True if the message was accepted for a later time. */
export function isScheduledClass(retentionDays: number): boolean {
  return retentionDays > scheduledClassOffset;
}

/** Reason of queue entries whose send time is still ahead. A clock that steps back doesn't make them due. */
export const scheduledReason = 'scheduled';
