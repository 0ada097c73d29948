import { parseMessageId } from '../foundation/ids.ts';
import { isTimeOrDay } from './answer/read-time.ts';

/** What a string of each format must be; every UUID may be in any case, as in a path. */
export const stringFormats = {
  uuid: (text: string) => parseMessageId(text) !== undefined,
  date: (text: string) => text.length === 10 && isTimeOrDay(text),
  'date-time': (text: string) => text.length > 10 && isTimeOrDay(text),
} as const;
