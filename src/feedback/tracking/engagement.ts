import type { ReaderEventKind } from '../../message/event-kinds.ts';
import type { ReaderVerdict } from './classify-reader.ts';
import type { TrackedMessage } from './tracking-tokens.ts';

/** One open or click, as it came. */
export interface Engagement {
  /** Of its event: writing it once more, since nobody knows whether it was written, changes nothing. */
  readonly id: string;
  readonly message: TrackedMessage;
  readonly kind: ReaderEventKind;
  /** When, in milliseconds since the epoch by the process clock. */
  readonly at: number;
  /** The link's number; undefined for opens and the hidden link. */
  readonly link: number | undefined;
  readonly hidden: boolean;
  readonly verdict: ReaderVerdict;
  readonly userAgent: string;
  /** The reader's network, or its address where the operator keeps them. */
  readonly network: string;
}
