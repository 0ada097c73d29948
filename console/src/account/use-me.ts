import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { MyAccount } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { keyOf } from '../api/use-get.ts';
import { chooseFormats } from '../format/formats.ts';

const meQuery = {
  queryKey: keyOf('/me'),
  async queryFn() {
    const me = await api.get('/me');
    if (me.person !== null) chooseFormats(me.person.formats);
    return me;
  },
  staleTime: 60_000,
} as const;

/** The signed-in person and their accounts. */
export function useMe() {
  return useQuery(meQuery);
}

/** The account of the page; undefined if the person isn't a member. */
export function useAccount(): {
  readonly account: MyAccount | undefined;
  readonly isPending: boolean;
} {
  const { account: id } = useParams({ strict: false });
  const { data, isPending } = useMe();
  return { account: data?.accounts.find((account) => account.id === id), isPending };
}

/** The account ID of the page, for URLs and requests. */
export function useAccountId(): string {
  const { account } = useParams({ strict: false });
  if (account === undefined) throw new Error('the URL of this page has no account ID');
  return account;
}

/** Whether the person has a permission in the account of the page. */
export function useMay(): (permission: string) => boolean {
  const { account } = useAccount();
  return (permission) => account?.permissions.some((granted) => granted === permission) ?? false;
}
