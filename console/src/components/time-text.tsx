import {
  formatBriefDistance,
  formatClock,
  formatDateAndTime,
  formatDistance,
  formatExactTime,
  formatTime,
  formatToMinute,
} from '../format/format-time.ts';

const formats = {
  /** The time if it is today; otherwise date and time. */
  time: formatTime,
  /** Such as “3 minutes ago”. */
  distance: (value: string) => formatDistance(value),
  /** Such as “in 19s”. */
  brief: formatBriefDistance,
  /** With the date, also today. */
  full: formatDateAndTime,
  /** Without the date. */
  clock: formatClock,
  /** Without seconds. */
  minute: formatToMinute,
};

/** A time in the person's time zone, with the exact time as tooltip. */
export function TimeText({ value, as = 'time' }: { value: string; as?: keyof typeof formats }) {
  return (
    <time dateTime={value} title={formatExactTime(value)} className="time">
      {formats[as](value)}
    </time>
  );
}
