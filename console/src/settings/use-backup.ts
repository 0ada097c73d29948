import { useQuery } from '@tanstack/react-query';
import { useMe } from '../account/use-me.ts';
import { answerOf, api } from '../api/management.ts';

/** The state of the installation's backup, which only operators see. */
export function useBackup() {
  const { data: me } = useMe();
  return useQuery({
    queryKey: ['backup'],
    queryFn: () => answerOf(api.GET('/installation/backup')),
    enabled: me?.operator === true,
    staleTime: 60_000,
  });
}
