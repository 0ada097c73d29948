import { useQueryClient } from '@tanstack/react-query';
import { useAccountId } from '../account/use-me.ts';
import type { Params, PathOf } from './management.ts';
import { keyOf } from './use-get.ts';

type PathWithoutIds = {
  [Path in PathOf<'get'>]: [keyof Params<Path, 'get'>] extends ['accountId'] ? Path : never;
}[PathOf<'get'>];

type FirstPart<Path> = Path extends `${infer Part}/${string}` ? Part : Path;

/** What an account has, as the first part of its paths below the account. */
type AccountPart =
  PathOf<'get'> extends infer Path
    ? Path extends `/accounts/{accountId}/${infer Rest}`
      ? FirstPart<Rest>
      : never
    : never;

/** Reads again what is shown of parts of the account, or of whole paths, with all that is below them. */
export function useRefresh(...names: readonly (AccountPart | PathWithoutIds)[]) {
  const accountId = useAccountId();
  const client = useQueryClient();
  return (): Promise<unknown> =>
    Promise.all(
      names.map((name) => {
        const path = name.startsWith('/') ? name : `/accounts/{accountId}/${name}`;
        const queryKey = keyOf(path as '/accounts/{accountId}', { accountId });
        return client.invalidateQueries({ queryKey });
      }),
    );
}
