/** Leads to the sign-in page, which leads back here. */
export function goToSignIn(): void {
  const next = location.pathname + location.search;
  location.assign(`/sign-in?${new URLSearchParams({ next })}`);
}
