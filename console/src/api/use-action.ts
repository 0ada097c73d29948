import { type UseMutationOptions, useMutation } from '@tanstack/react-query';
import { useRef } from 'react';

/**
 * A mutation that can't run concurrently: `mutate` does nothing until the previous call and its follow-ups have ended. A second
 * click or Enter can arrive before the busy state is rendered.
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
      // The page shows the error of the action.
      .catch(() => undefined)
      .finally(() => {
        inFlight.current = false;
      });
  }

  return { ...action, mutate };
}
