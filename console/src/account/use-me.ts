import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { MyAccount } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';

const meQuery = {
  queryKey: ['me'],
  queryFn: () => answerOf(api.GET('/me')),
  staleTime: 60_000,
} as const;

/** Who is signed in, and the accounts of this person. */
export function useMe() {
  return useQuery(meQuery);
}

/** The account of the page; undefined where the person has no such account. */
export function useAccount(): {
  readonly account: MyAccount | undefined;
  readonly isPending: boolean;
} {
  const { account: id } = useParams({ strict: false });
  const { data, isPending } = useMe();
  return { account: data?.accounts.find((account) => account.id === id), isPending };
}

/** The id of the account of the page, for addresses and requests. */
export function useAccountId(): string {
  const { account } = useParams({ strict: false });
  if (account === undefined) throw new Error('the page belongs to no account');
  return account;
}

/** Whether the person may do something in the account of the page. */
export function useMay(): (permission: string) => boolean {
  const { account } = useAccount();
  return (permission) =>
    (account?.permissions as readonly string[] | undefined)?.includes(permission) ?? false;
}
