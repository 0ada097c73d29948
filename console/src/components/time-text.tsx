import { formatDistance, formatExactTime, formatTime } from '../format/format-time.ts';

/** A moment in the person's zone; exactly, with the zone, where the pointer rests on it. */
export function TimeText({ value, distance }: { value: string; distance?: boolean }) {
  return (
    <time dateTime={value} title={formatExactTime(value)} className="time">
      {distance ? formatDistance(value) : formatTime(value)}
    </time>
  );
}
