import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../api/management.ts';

/** The settings of the installation. */
export function useSettings() {
  return useQuery({
    queryKey: ['settings'],
    queryFn: () => answerOf(api.GET('/installation/settings')),
    staleTime: 300_000,
  });
}
