const storageKey = 'signalpost.account';

/** The account that was looked at last in this browser; nothing depends on its being kept. */
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
    // A browser that keeps nothing starts with the first account each time.
  }
}
