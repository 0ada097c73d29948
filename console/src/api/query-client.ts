import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiProblem } from './problem.ts';
import { goToSignIn } from './sign-in.ts';
import { hasUnsavedChanges } from './unsaved.ts';

/** A session that ended leads back to the sign-in page, wherever it is noticed, unless something typed would be lost. */
function redirectToSignIn(error: unknown): void {
  if (hasUnsavedChanges()) return;
  const atStart = /^\/console\/?$/.test(location.pathname);
  if (!atStart && error instanceof ApiProblem && error.status === 401) goToSignIn();
}

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: redirectToSignIn }),
  mutationCache: new MutationCache({ onError: redirectToSignIn }),
  defaultOptions: {
    // A browser that thinks itself offline asks nevertheless: the service may be on this very machine, and what cannot
    // be reached is said instead of waited for.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 10_000,
      // A refusal stays one; what may pass is asked again.
      retry: (failures, error) =>
        failures < 2 && !(error instanceof ApiProblem && error.status < 500),
    },
  },
});
