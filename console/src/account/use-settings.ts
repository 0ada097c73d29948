import { useGet } from '../api/use-get.ts';

/** The settings of the installation. */
export function useSettings() {
  return useGet('/installation/settings', { staleTime: 300_000 });
}
