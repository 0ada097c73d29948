import type { RoughSink } from '../chaos/rough-sink.ts';

/** Requests that were sent again with their key and led to more than one message. */
export function countRepeatedRequests({ received }: Pick<RoughSink, 'received'>): number {
  /** Message IDs by To, which is different in each request. */
  const messages = new Map<string, Set<string>>();
  for (const copy of received.keys()) {
    const [id = '', address = ''] = copy.split(' ');
    if (!address.startsWith('reader')) continue;
    messages.set(address, (messages.get(address) ?? new Set()).add(id));
  }
  return [...messages.values()].filter(({ size }) => size > 1).length;
}
