const storageKey = 'signalpost.account';

/** The last account viewed in this browser; best effort. */
export function readLastAccount(): string | undefined {
  try {
    return localStorage.getItem(storageKey) ?? undefined;
  } catch {
    return undefined;
  }
}

export function storeLastAccount(id: string): void {
  try {
    localStorage.setItem(storageKey, id);
  } catch {
    // Without storage, the console always starts with the first account.
  }
}
