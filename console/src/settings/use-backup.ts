import { useMe } from '../account/use-me.ts';
import { useGet } from '../api/use-get.ts';

/** The state of the installation's backup, which only operators see. */
export function useBackup() {
  const { data: me } = useMe();
  return useGet('/installation/backup', { enabled: me?.operator === true, staleTime: 60_000 });
}
