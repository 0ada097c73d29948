import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useAccountId, useMay } from '../account/use-me.ts';
import { api } from '../api/management.ts';
import { text } from '../texts/text.ts';
import type { PaletteGroup } from './palette-items.ts';

type Kind = 'domains' | 'senders' | 'lists' | 'webhooks' | 'keys' | 'team';

interface Thing {
  readonly id: string;
  readonly name: string;
  /** What tells it apart from others. */
  readonly detail?: string;
  /** Its own page, if it has one. */
  readonly to?:
    | '/$account/domains/$domain'
    | '/$account/lists/$list'
    | '/$account/webhooks/$webhook';
}

const permissions = {
  domains: 'domains:read',
  senders: 'senders:read',
  lists: 'lists:read',
  webhooks: 'webhooks:read',
  keys: 'keys:read',
  team: 'users:read',
} as const satisfies Readonly<Record<Kind, string>>;

const kinds = Object.keys(permissions) as Kind[];

/** Accounts have few of them, so the first page of each list is enough. */
const limit = 500;
const maxShown = 4;

async function readThings(accountId: string, kind: Kind): Promise<Thing[]> {
  const path = { accountId };
  switch (kind) {
    case 'domains': {
      const { items } = await api.get('/accounts/{accountId}/domains', path, { limit });
      return items.map(({ domain }) => ({
        id: domain,
        name: domain,
        to: '/$account/domains/$domain',
      }));
    }
    case 'senders': {
      const { items } = await api.get('/accounts/{accountId}/senders', path, { limit });
      return items.map(({ address }) => ({ id: address, name: address }));
    }
    case 'lists': {
      const { items } = await api.get('/accounts/{accountId}/lists', path, { limit });
      return items.map(({ id, name }) => ({ id, name, detail: id, to: '/$account/lists/$list' }));
    }
    case 'webhooks': {
      const { items } = await api.get('/accounts/{accountId}/webhooks', path);
      return items.map(({ id, url }) => ({ id, name: url, to: '/$account/webhooks/$webhook' }));
    }
    case 'keys': {
      const { items } = await api.get('/accounts/{accountId}/keys', path);
      return items.map(({ id, name, hint }) => ({ id, name, detail: `…${hint ?? ''}` }));
    }
    case 'team': {
      const { items } = await api.get('/accounts/{accountId}/users', path, { limit });
      return items.map(({ email, name }) => ({ id: email, name: name || email, detail: email }));
    }
  }
}

/** Domains, senders, lists, webhooks, API keys and people whose name or ID contains the text. */
export function usePaletteThings(contains: string): {
  readonly groups: readonly PaletteGroup[];
  readonly isFetching: boolean;
} {
  const account = useAccountId();
  const may = useMay();
  const navigate = useNavigate();
  const readable = kinds.filter((kind) => may(permissions[kind]));
  const { data = [], isFetching } = useQuery({
    queryKey: ['palette-things', account, readable],
    queryFn: () =>
      Promise.all(
        readable.map(async (kind) => ({ kind, things: await readThings(account, kind) })),
      ),
    enabled: contains !== '' && readable.length > 0,
    staleTime: 30_000,
  });
  const wanted = contains.toLowerCase();
  const groups = data.map(({ kind, things }) => ({
    title: text(`nav.${kind}`),
    items: things
      .filter(({ id, name }) => `${name} ${id}`.toLowerCase().includes(wanted))
      .slice(0, maxShown)
      .map(({ id, name, detail, to }) => ({
        key: `${kind} ${id}`,
        name,
        icon: kind,
        ...(detail !== undefined && detail !== name && { detail }),
        go: () =>
          to === undefined
            ? navigate({ to: `/$account/${kind}`, params: { account } })
            : navigate({ to, params: { account, domain: id, list: id, webhook: id } }),
      })),
  }));
  return { groups: contains === '' ? [] : groups, isFetching };
}
