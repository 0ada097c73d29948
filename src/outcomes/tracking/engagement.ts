import type { TrackedMessage } from '../../base/values/byte-fields.ts';
import type { ReaderEventKind } from '../../content/message/event-kinds.ts';
import type { ReaderVerdict } from './classify-reader.ts';

/** One open or click, as received. */
export interface Engagement {
  /** The event's id, so that retrying a write with unknown outcome changes nothing. */
  readonly id: string;
  readonly message: TrackedMessage;
  readonly kind: ReaderEventKind;
  /** By `performance.now()`, because the clock of the database counts. */
  readonly at: number;
  /** Since when it waits for the outcome of its message's delivery, by `performance.now()`. */
  readonly waitsSince?: number;
  /** The link's number; undefined for opens and the hidden link. */
  readonly link: number | undefined;
  readonly hidden: boolean;
  readonly verdict: ReaderVerdict;
  readonly userAgent: string;
  /** The reader's network, or full address if the operator keeps them. */
  readonly network: string;
}
