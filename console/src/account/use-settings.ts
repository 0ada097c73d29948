import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../api/management.ts';

/** What the installation was started with. */
export function useSettings() {
  return useQuery({
    queryKey: ['settings'],
    queryFn: () => answerOf(api.GET('/installation/settings')),
    staleTime: 300_000,
  });
}
