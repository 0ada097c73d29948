import type { Middleware } from 'openapi-fetch';
import { useSyncExternalStore } from 'react';

/** A request that waits until the person has confirmed who they are. */
export interface PendingConfirmation {
  /** @param confirmed true to repeat the request, false to give it up */
  finish(confirmed: boolean): void;
}

let pending: PendingConfirmation | undefined;
let answer: Promise<boolean> | undefined;
const listeners = new Set<() => void>();

function setPending(next: PendingConfirmation | undefined): void {
  pending = next;
  for (const listener of listeners) listener();
}

/** Asks once for all requests that wait at the same time. */
function askToConfirm(): Promise<boolean> {
  answer ??= new Promise<boolean>((resolve) => setPending({ finish: resolve })).finally(() => {
    answer = undefined;
    setPending(undefined);
  });
  return answer;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** What the person is asked to confirm now. */
export function usePendingConfirmation(): PendingConfirmation | undefined {
  return useSyncExternalStore(subscribe, () => pending);
}

/** Sent requests that may have to be repeated; a request's body can be read only once. */
const copies = new Map<string, Request>();

/** Repeats a request that was refused until the person confirmed who they are. Its form stays open meanwhile. */
export const confirmation: Middleware = {
  onRequest({ request, id }) {
    // Files are never sensitive, and a copy would keep one in memory.
    if (request.headers.get('content-type') !== 'text/csv') copies.set(id, request.clone());
  },
  async onResponse({ response, id }) {
    const copy = copies.get(id);
    copies.delete(id);
    if (copy === undefined || response.status !== 403 || !(await needsConfirmation(response)))
      return undefined;
    return (await askToConfirm()) ? fetch(copy) : undefined;
  },
  onError({ id }) {
    copies.delete(id);
  },
};

async function needsConfirmation(response: Response): Promise<boolean> {
  const problem: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  return (
    typeof problem === 'object' &&
    problem !== null &&
    'type' in problem &&
    problem.type === '/problems/confirmation-required'
  );
}
