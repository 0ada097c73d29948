/** The sign-in page for a tab of its own, beside one with something that is not saved. */
export const signInTabUrl = `/sign-in?${new URLSearchParams({ next: '/console' })}`;

/** Leads to the sign-in page, which leads back here. */
export function goToSignIn(): void {
  const next = location.pathname + location.search;
  location.assign(`/sign-in?${new URLSearchParams({ next })}`);
}
