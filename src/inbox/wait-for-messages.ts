import type { InboxArrivals } from './inbox-arrivals.ts';
import type { InboxMessage } from './inbox-message.ts';

export interface WaitOptions {
  /** Asks for the messages that are waited for. */
  readonly find: () => Promise<InboxMessage[]>;
  readonly arrivals: Pick<InboxArrivals, 'listen'>;
  /** Only mail to this envelope recipient, in any case, is worth asking again. */
  readonly to: string | undefined;
  readonly milliseconds: number;
  /** Ends the wait early: the caller went away, or the service stops. */
  readonly signal: AbortSignal;
}

/** Answers as soon as at least one message is found; with none once the time is over or the signal comes. */
export async function waitForMessages(options: WaitOptions): Promise<InboxMessage[]> {
  const { find, arrivals, milliseconds, signal } = options;
  const over = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
  const to = options.to?.toLowerCase();
  let came = false;
  let wake = (): void => undefined;
  const unlisten = arrivals.listen((event) => {
    if (event.kind !== 'arrived') return;
    if (to !== undefined && !event.envelopeTo.some((address) => address.toLowerCase() === to))
      return;
    came = true;
    wake();
  });
  over.addEventListener('abort', () => wake());
  try {
    for (;;) {
      came = false;
      const found = await find();
      if (found.length > 0 || over.aborted) return found;
      if (!came) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    unlisten();
  }
}
