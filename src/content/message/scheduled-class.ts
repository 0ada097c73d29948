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

/** Reason of queued deliveries whose send time is still ahead. A clock that steps back doesn't make them due. */
export const scheduledReason = 'scheduled';

/**
 * The part of a `with` list that takes canceled messages out of the schedule. From now on, their retention counts like that of
 * messages that were sent now.
 * @param canceled the part with the account_id, message_id and retention_days of the messages; trusted SQL
 */
export function unschedule(canceled: string): string {
  return `unscheduled as (
    update scheduled_message s
    set waiting = false, send_at = least(s.send_at, now()),
      keep_until = least(s.keep_until, now() + (s.retention_days - ${scheduledClassOffset}) * interval '1 day')
    from ${canceled} c
    where c.retention_days > ${scheduledClassOffset} and s.account_id = c.account_id and s.message_id = c.message_id)`;
}
