import { answerOf, api } from './management.ts';

/** Ends the session of this browser and shows the sign-in page. */
export async function signOut(): Promise<void> {
  await answerOf(api.DELETE('/me/session', {}));
  location.assign('/sign-in');
}

/** The sign-in page for a separate tab, to keep unsaved input in this one. */
export const signInTabUrl = `/sign-in?${new URLSearchParams({ next: '/console' })}`;

/** Goes to the sign-in page, which returns here. */
export function goToSignIn(): void {
  const next = location.pathname + location.search;
  location.assign(`/sign-in?${new URLSearchParams({ next })}`);
}
