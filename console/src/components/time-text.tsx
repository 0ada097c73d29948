import {
  formatBriefDistance,
  formatClock,
  formatDateAndTime,
  formatDistance,
  formatExactTime,
  formatTime,
  formatToMinute,
} from '../format/format-time.ts';

interface TimeTextProps {
  value: string;
  /** Such as “3 minutes ago”. */
  distance?: boolean;
  /** Such as “in 19s”. */
  brief?: boolean;
  /** With the date, also today. */
  full?: boolean;
  /** Without the date. */
  clock?: boolean;
  /** Without seconds. */
  toMinute?: boolean;
}

/** A time in the person's time zone, with the exact time as tooltip. */
export function TimeText({ value, distance, brief, full, clock, toMinute }: TimeTextProps) {
  const format = distance
    ? formatDistance
    : brief
      ? formatBriefDistance
      : full
        ? formatDateAndTime
        : clock
          ? formatClock
          : toMinute
            ? formatToMinute
            : formatTime;
  return (
    <time dateTime={value} title={formatExactTime(value)} className="time">
      {format(value)}
    </time>
  );
}
