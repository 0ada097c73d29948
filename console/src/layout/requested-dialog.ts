import { useEffect, useSyncExternalStore } from 'react';

/** Dialogs that the palette opens on their page. */
export type RequestedDialog =
  | 'new-template'
  | 'suppress-address'
  | 'new-list'
  | 'new-sender'
  | 'new-domain'
  | 'new-key'
  | 'new-webhook'
  | 'invite'
  | 'send-test';

/** A page that takes longer to load doesn't surprise anyone with a dialog. */
const maxWaitMs = 10_000;

let requested: RequestedDialog | undefined;
const listeners = new Set<() => void>();

/** Asks the page that is opened next, or already is, to open a dialog. */
export function requestDialog(dialog: RequestedDialog): void {
  requested = dialog;
  setTimeout(() => {
    if (requested === dialog) requested = undefined;
  }, maxWaitMs);
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Opens a dialog of the page once the palette asks for it. */
export function useRequestedDialog(dialog: RequestedDialog | undefined, open: () => void): void {
  const isRequested = useSyncExternalStore(
    listen,
    () => requested !== undefined && requested === dialog,
  );
  useEffect(() => {
    if (!isRequested) return;
    requested = undefined;
    open();
  }, [isRequested, open]);
}
