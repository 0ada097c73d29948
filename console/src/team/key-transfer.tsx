import { Checkbox, Text } from '@mantine/core';
import { useState } from 'react';
import { useAccount, useMay, useMe } from '../account/use-me.ts';
import type { User } from '../api/management.generated.ts';
import { usePages } from '../api/pages.ts';
import { text } from '../texts/text.ts';

/** The API keys a person created in the account, and whether the acting owner takes them over. */
export interface KeyTransfer {
  readonly count: number;
  /** True once the number of keys is known; until then, the role can't be changed. */
  readonly isLoaded: boolean;
  /** True if the keys can't be taken over: they are the person's own, or the person isn't an owner. */
  readonly canTransfer: boolean;
  readonly own: boolean;
  readonly transfer: boolean;
  setTransfer(transfer: boolean): void;
  /** Query of the request that ends the role. */
  readonly query: { readonly keysTo?: string };
}

/** Whether a role change revokes the keys a person created. */
export function revokesKeys(before: User['role'], after: User['role']): boolean {
  if (after === before || after === 'owner') return false;
  return after !== 'developer' || before === 'owner';
}

export function useKeyTransfer({ email }: User): KeyTransfer {
  const may = useMay();
  const { account } = useAccount();
  const me = useMe().data?.person?.email;
  const [transfer, setTransfer] = useState(false);
  const enabled = may('keys:read') && may('users:write');
  const pages = usePages('/accounts/{accountId}/keys', { enabled });
  const count = pages.items.filter(({ createdBy }) => createdBy === email).length;
  const own = me === email;
  const canTransfer = me !== undefined && !own && account?.role === 'owner';
  return {
    count,
    isLoaded: !(enabled && pages.isPending),
    canTransfer,
    own,
    transfer,
    setTransfer,
    query: canTransfer && transfer && count > 0 ? { keysTo: me } : {},
  };
}

/** Offers an owner to take over the keys of a person losing their role. */
export function KeyTransferChoice({
  keys: { count, canTransfer, own, transfer, setTransfer },
}: {
  keys: KeyTransfer;
}) {
  if (count === 0) return null;
  if (!canTransfer)
    return <Text size="sm">{text(own ? 'team.ownKeysEnd' : 'team.keysEnd', { count })}</Text>;
  return (
    <Checkbox
      label={text('team.keys', { count })}
      description={text('team.keysElse', { count })}
      checked={transfer}
      onChange={(event) => setTransfer(event.currentTarget.checked)}
    />
  );
}
