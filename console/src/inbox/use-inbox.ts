import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';
import { api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { keyOf } from '../api/use-get.ts';
import { type InboxFilters, readInboxFilters } from './inbox-filters.ts';

const ofAccount = {
  page: '/$account/inbox',
  messages: '/accounts/{accountId}/inbox/messages',
  message: '/accounts/{accountId}/inbox/messages/{inboxMessageId}',
} as const;

/** Has the same operations and answers, and no account. */
const ofInstallation = {
  page: '/.server/inbox',
  messages: '/inbox/messages',
  message: '/inbox/messages/{inboxMessageId}',
};

/** The inbox of the page: that of its account, or else that of the installation. */
export function useInbox(canDelete: boolean) {
  const { account } = useParams({ strict: false });
  const isOfAccount = account !== undefined;
  const paths = isOfAccount ? ofAccount : (ofInstallation as unknown as typeof ofAccount);
  const filters = readInboxFilters(useSearch({ strict: false }));
  const { mail: _, ...list } = filters;
  const client = useQueryClient();
  const navigate = useNavigate();
  const accountId = account ?? '';
  const show = useCallback(
    (shown: InboxFilters, replace = false) =>
      navigate({ to: paths.page, params: { account: accountId }, search: shown, replace }),
    [navigate, paths, accountId],
  );
  const refresh = () =>
    client.invalidateQueries({ queryKey: keyOf(paths.messages, { accountId: account as string }) });
  return {
    isOfAccount,
    paths,
    filters,
    /** Without an open mail. */
    list,
    canDelete,
    show,
    async remove(inboxMessageId: string) {
      await api.delete(paths.message, { accountId, inboxMessageId });
      await refresh();
    },
    async empty() {
      await api.delete(paths.messages, { accountId });
      await refresh();
    },
    /** Where the browser downloads a part of a mail. */
    fileOf: (mail: string, part: string) => {
      const path = paths.message
        .replace('{accountId}', encodeURIComponent(accountId))
        .replace('{inboxMessageId}', mail);
      return `/manage/v1${path}/${part}`;
    },
  };
}

export type Inbox = ReturnType<typeof useInbox>;

/** The mail that matches the search, newest first, and kept up to date. */
export function useMails({ paths, filters: { search } }: Inbox) {
  return usePages(paths.messages, {
    query: { ...(search !== undefined && { search }) },
    refetchInterval: 2_000,
  });
}
