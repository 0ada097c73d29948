import { type UseMutationOptions, useMutation } from '@tanstack/react-query';
import { useRef } from 'react';

/**
 * A mutation of which only one is under way: `mutate` does nothing until the one before has ended with all that follows it.
 * What a page shows as busy is drawn only after the first call, so a second click or Enter may come before.
 */
export function useAction<Data = unknown, Variables = void>(
  options: UseMutationOptions<Data, Error, Variables>,
) {
  const action = useMutation<Data, Error, Variables>(options);
  const inFlight = useRef(false);
  const { mutateAsync } = action;

  function mutate(...call: Parameters<typeof mutateAsync>): void {
    if (inFlight.current) return;
    inFlight.current = true;
    mutateAsync(...call)
      // The error is the action's, which the page shows.
      .catch(() => undefined)
      .finally(() => {
        inFlight.current = false;
      });
  }

  return { ...action, mutate };
}
