import { useDebouncedValue } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useAccountId, useMay, useMe } from '../account/use-me.ts';
import type { MessageLine } from '../api/management.generated.ts';
import { signOut } from '../api/sign-in.ts';
import { useGet } from '../api/use-get.ts';
import type { IconName } from '../components/icon.tsx';
import { showNotice } from '../components/notices.tsx';
import { shownStates } from '../message/message-states.ts';
import { text } from '../texts/text.ts';
import { useAreas } from './navigation.tsx';
import { usePaletteThings } from './palette-things.ts';
import { type RequestedDialog, requestDialog } from './requested-dialog.ts';
import { useSchemeSwitch } from './scheme-toggle.tsx';
import { pageLetters } from './use-shortcuts.ts';

interface PaletteItem {
  readonly key: string;
  readonly name: string;
  readonly icon: IconName;
  /** What tells it apart from others, such as the recipient of a message. */
  readonly detail?: string;
  /** The keys that open it from anywhere, in turn. */
  readonly shortcut?: readonly string[];
  go(): unknown;
}

export interface PaletteGroup {
  readonly title: string;
  readonly items: readonly PaletteItem[];
}

/** Shorter texts match too much to search messages for them. */
const minSearchLength = 3;
const maxFound = 5;

type Permission = Parameters<ReturnType<typeof useMay>>[0];

const actions = [
  { name: 'newTemplate', permission: 'templates:write', page: 'templates', dialog: 'new-template' },
  {
    name: 'suppress',
    permission: 'suppressions:write',
    page: 'suppressions',
    dialog: 'suppress-address',
  },
  { name: 'newSender', permission: 'senders:write', page: 'senders', dialog: 'new-sender' },
  { name: 'newDomain', permission: 'domains:write', page: 'domains', dialog: 'new-domain' },
  { name: 'newKey', permission: 'keys:write', page: 'keys', dialog: 'new-key' },
  { name: 'newWebhook', permission: 'webhooks:write', page: 'webhooks', dialog: 'new-webhook' },
  { name: 'newList', permission: 'lists:write', page: 'lists', dialog: 'new-list' },
  { name: 'invite', permission: 'users:write', page: 'team', dialog: 'invite' },
] as const satisfies readonly {
  readonly name: string;
  readonly permission: Permission;
  readonly page: string;
  readonly dialog: RequestedDialog;
}[];

function shortcutOf(page: string): { readonly shortcut?: readonly string[] } {
  const [letter] = Object.entries(pageLetters).find(([, name]) => name === page) ?? [];
  return letter === undefined ? {} : { shortcut: ['G', letter.toUpperCase()] };
}

/** What matches the input, by kind, and whether the first one is final. */
export function usePaletteItems(
  typed: string,
  showShortcuts: () => void,
): { readonly groups: readonly PaletteGroup[]; readonly settled: boolean } {
  const account = useAccountId();
  const may = useMay();
  const navigate = useNavigate();
  const areas = useAreas();
  const schemeSwitch = useSchemeSwitch();
  const { data: me } = useMe();
  const [contains] = useDebouncedValue(typed, 120);
  const templates = useGet('/accounts/{accountId}/templates', {
    query: { contains, limit: maxFound },
    enabled: contains !== '' && may('templates:read'),
  });
  const messages = useGet('/accounts/{accountId}/messages', {
    query: { search: contains, limit: maxFound },
    enabled: contains.length >= minSearchLength && may('messages:read'),
  });
  const things = usePaletteThings(contains);
  const searched =
    contains === typed && !templates.isFetching && !messages.isFetching && !things.isFetching;
  const includesTyped = (name: string) => name.toLowerCase().includes(typed.toLowerCase());
  const matches = ({ name }: PaletteItem) => includesTyped(name);

  const pages = areas
    .flatMap(({ icon, pages }) => pages.map((page) => ({ icon, page })))
    .map(
      ({ icon, page }): PaletteItem => ({
        key: `page ${page.name}`,
        name: text(`nav.${page.name}`),
        icon,
        ...shortcutOf(page.name),
        go: () =>
          'href' in page
            ? location.assign(page.href)
            : navigate({ to: page.to, params: { account } }),
      }),
    )
    .filter(matches);
  const shownActions = [
    ...actions
      .filter(({ permission }) => may(permission))
      .map(
        ({ name, page, dialog }): PaletteItem => ({
          key: `action ${name}`,
          name: text(`palette.${name}`),
          icon: 'plus',
          go: () => {
            requestDialog(dialog);
            return navigate({ to: `/$account/${page}`, params: { account } });
          },
        }),
      ),
    {
      key: 'action shortcuts',
      name: text('shortcuts.title'),
      icon: 'settings',
      go: showShortcuts,
    } satisfies PaletteItem,
    { key: 'action scheme', ...schemeSwitch } satisfies PaletteItem,
    {
      key: 'action sign-out',
      name: text('layout.signOut'),
      icon: 'leave',
      go: () => signOut().catch(() => showNotice(text('layout.signOutFailed'))),
    } satisfies PaletteItem,
  ].filter(matches);
  const accounts = (typed === '' ? [] : (me?.accounts ?? []))
    .filter(({ id }) => id !== account)
    .map(
      ({ id, name }): PaletteItem => ({
        key: `account ${id}`,
        name,
        icon: 'settings',
        detail: id,
        go: () => navigate({ to: '/$account', params: { account: id } }),
      }),
    )
    .filter(matches)
    .slice(0, maxFound);
  const states = (typed === '' || !may('messages:read') ? [] : shownStates)
    .filter((state) => includesTyped(text(`state.${state}`)))
    .map(
      (state): PaletteItem => ({
        key: `state ${state}`,
        name: text('palette.messagesIn', { state: text(`state.${state}`) }),
        icon: 'messages',
        go: () => navigate({ to: '/$account/messages', params: { account }, search: { state } }),
      }),
    );
  const found = contains === '' ? [] : (templates.data?.items ?? []);
  const foundTemplates = found.map(
    ({ id, name }): PaletteItem => ({
      key: `template ${id}`,
      name: `${name} · ${id}`,
      icon: 'templates',
      go: () =>
        navigate({ to: '/$account/templates/$template', params: { account, template: id } }),
    }),
  );
  const tests = found
    .filter(() => may('templates:write'))
    .map(
      ({ id, name }): PaletteItem => ({
        key: `test ${id}`,
        name: text('palette.sendTest', { name }),
        icon: 'messages',
        go: () => {
          requestDialog('send-test');
          return navigate({
            to: '/$account/templates/$template',
            params: { account, template: id },
          });
        },
      }),
    );
  const foundMessages =
    contains.length < minSearchLength ? [] : (messages.data?.items ?? []).map(messageItem);
  const search: PaletteItem = {
    key: 'search',
    name: text('palette.searchMessages', { text: typed }),
    icon: 'search',
    go: () =>
      navigate({ to: '/$account/messages', params: { account }, search: { search: typed } }),
  };
  const isSearchable = typed.length >= minSearchLength && may('messages:read');

  function messageItem({ id, to, subject }: MessageLine): PaletteItem {
    return {
      key: `message ${id}`,
      name: subject ?? id,
      icon: 'messages',
      detail: to ?? text('messages.erased'),
      go: () => navigate({ to: '/$account/messages/$message', params: { account, message: id } }),
    };
  }

  const actionGroup = { title: text('palette.actions'), items: [...shownActions, ...tests] };
  const groups = [
    // The menu has the pages already.
    ...(typed === '' ? [actionGroup] : []),
    { title: text('palette.pages'), items: [...pages, ...states] },
    { title: text('palette.templates'), items: foundTemplates },
    ...things.groups,
    ...(typed === '' ? [] : [actionGroup]),
    { title: text('palette.accounts'), items: accounts },
    {
      title: text('palette.messages'),
      items: isSearchable ? [...foundMessages, search] : foundMessages,
    },
  ].filter(({ items }) => items.length > 0);
  return {
    groups,
    settled: pages.length > 0 || searched,
  };
}
