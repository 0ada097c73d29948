import { formatDistance, formatExactTime, formatTime } from '../format/format-time.ts';

/** A time in the person's time zone, with the exact time as tooltip. */
export function TimeText({ value, distance }: { value: string; distance?: boolean }) {
  return (
    <time dateTime={value} title={formatExactTime(value)} className="time">
      {distance ? formatDistance(value) : formatTime(value)}
    </time>
  );
}
