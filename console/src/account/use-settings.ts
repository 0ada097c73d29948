import { useQuery } from '@tanstack/react-query';
import { api } from '../api/management.ts';

/** The settings of the installation. */
export function useSettings() {
  return useQuery({
    queryKey: ['settings'],
    queryFn: () => api.get('/installation/settings'),
    staleTime: 300_000,
  });
}
