import { useQuery } from '@tanstack/react-query';
import { useMe } from '../account/use-me.ts';
import { api } from '../api/management.ts';

/** The state of the installation's backup, which only operators see. */
export function useBackup() {
  const { data: me } = useMe();
  return useQuery({
    queryKey: ['backup'],
    queryFn: () => api.get('/installation/backup'),
    enabled: me?.operator === true,
    staleTime: 60_000,
  });
}
