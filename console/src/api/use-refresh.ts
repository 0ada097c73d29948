import { useQueryClient } from '@tanstack/react-query';
import { useAccountId } from '../account/use-me.ts';

/** Reads again what of the account is shown, by the first words of its query keys. */
export function useRefresh(...names: readonly string[]): () => Promise<unknown> {
  const accountId = useAccountId();
  const client = useQueryClient();
  return () =>
    Promise.all(names.map((name) => client.invalidateQueries({ queryKey: [name, accountId] })));
}
