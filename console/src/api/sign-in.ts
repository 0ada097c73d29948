import { api } from './management.ts';

/** Ends the session of this browser and shows the sign-in page. */
export async function signOut(): Promise<void> {
  await api.delete('/me/session');
  location.assign('/sign-in');
}

/** Ends the session of this browser, and signs in with a provider, which leads back here. @param path where that starts */
export async function restartSignIn(path: string): Promise<void> {
  await api.delete('/me/session');
  const url = new URL(path, location.origin);
  url.searchParams.set('next', localPath());
  location.assign(url);
}

/** The sign-in page for a separate tab, to keep unsaved input in this one. */
export const signInTabUrl = `/sign-in?${new URLSearchParams({ next: '/console' })}`;

/** Goes to the sign-in page, which returns here. @param more what it says besides */
export function goToSignIn(more: { readonly failed?: 'set-up-done' } = {}): void {
  location.assign(`/sign-in?${new URLSearchParams({ next: localPath(), ...more })}`);
}

function localPath(): string {
  return location.pathname + location.search;
}
