import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { hasUnsavedChanges } from '../form/unsaved.ts';
import { ApiProblem } from './problem.ts';
import { goToSignIn } from './sign-in.ts';

/** Pages that say themselves what strangers can do. */
const openPages = /^\/console\/?(?:$|\.server\/)/;

/** Redirects to the sign-in page when the session has ended, unless that would lose input. */
function redirectToSignIn(error: unknown): void {
  if (hasUnsavedChanges()) return;
  const isOpen = openPages.test(location.pathname);
  if (!isOpen && error instanceof ApiProblem && error.status === 401) goToSignIn();
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: redirectToSignIn }),
  mutationCache: new MutationCache({ onError: redirectToSignIn }),
  defaultOptions: {
    // Sends requests even if the browser reports being offline: the service may be local, and an error is better than waiting.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 10_000,
      // Only retry errors that may be temporary.
      retry: (failures, error) =>
        failures < 2 && !(error instanceof ApiProblem && error.status < 500),
    },
  },
});
