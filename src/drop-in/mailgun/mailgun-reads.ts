import type { DropInCall } from '../provider/drop-in.ts';

/** The calls that don't send. */
export const mailgunReads: readonly DropInCall[] = [];
