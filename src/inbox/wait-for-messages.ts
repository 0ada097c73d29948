import type { InboxArrivals } from './inbox-arrivals.ts';
import type { CapturedMessage } from './inbox-message.ts';

export interface WaitOptions {
  /** Finds the messages to wait for. */
  readonly find: () => Promise<CapturedMessage[]>;
  readonly arrivals: Pick<InboxArrivals, 'listen'>;
  /** Only mail to this envelope recipient (case-insensitive) triggers another search. */
  readonly to: string | undefined;
  readonly timeoutMs: number;
  /** Ends the wait early: the caller disconnected, or the service is stopping. */
  readonly signal: AbortSignal;
}

/** Resolves as soon as at least one message is found, or with none on timeout or abort. */
export async function waitForMessages(options: WaitOptions): Promise<CapturedMessage[]> {
  const { find, arrivals, timeoutMs, signal } = options;
  const ended = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const to = options.to?.toLowerCase();
  let arrived = false;
  let wake = (): void => undefined;
  const unlisten = arrivals.listen((event) => {
    if (event.kind !== 'arrived') return;
    if (to !== undefined && !event.envelopeTo.some((address) => address.toLowerCase() === to))
      return;
    arrived = true;
    wake();
  });
  ended.addEventListener('abort', () => wake());
  try {
    for (;;) {
      arrived = false;
      const found = await find();
      if (found.length > 0 || ended.aborted) return found;
      if (!arrived) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    unlisten();
  }
}
