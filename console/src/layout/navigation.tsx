import { NavLink, type NavLinkProps, ScrollArea } from '@mantine/core';
import { createLink, useParams } from '@tanstack/react-router';
import { useMay } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { type TextKey, text } from '../texts/text.ts';

function PlainNavLink(props: NavLinkProps & { icon: IconName; href?: string }) {
  const { icon, ...rest } = props;
  return (
    <NavLink component="a" leftSection={<Icon name={icon} />} {...rest} className="nav-link" />
  );
}

const PageLink = createLink(PlainNavLink);

interface Entry {
  readonly to:
    | '/$account'
    | '/$account/messages'
    | '/$account/templates'
    | '/$account/senders'
    | '/$account/integrations'
    | '/$account/lists'
    | '/$account/suppressions'
    | '/$account/destinations'
    | '/$account/team'
    | '/$account/reports'
    | '/$account/domains'
    | '/$account/webhooks'
    | '/$account/audit'
    | '/$account/settings'
    | '/$account/inbox';
  readonly name: IconName & string;
  readonly permission: string;
}

interface Section {
  /** Nothing above the first pages, which everybody opens. */
  readonly title?: TextKey;
  readonly entries: readonly Entry[];
}

const sections: readonly Section[] = [
  {
    entries: [
      { to: '/$account', name: 'overview', permission: 'account:read' },
      { to: '/$account/messages', name: 'messages', permission: 'messages:read' },
      { to: '/$account/reports', name: 'reports', permission: 'reports:read' },
      { to: '/$account/inbox', name: 'inbox', permission: 'inbox:read' },
    ],
  },
  {
    title: 'nav.build',
    entries: [
      { to: '/$account/templates', name: 'templates', permission: 'templates:read' },
      { to: '/$account/integrations', name: 'integrations', permission: 'integrations:read' },
      { to: '/$account/webhooks', name: 'webhooks', permission: 'webhooks:read' },
    ],
  },
  {
    title: 'nav.deliver',
    entries: [
      { to: '/$account/senders', name: 'senders', permission: 'senders:read' },
      { to: '/$account/domains', name: 'domains', permission: 'domains:read' },
      { to: '/$account/destinations', name: 'destinations', permission: 'queue:read' },
    ],
  },
  {
    title: 'nav.people',
    entries: [
      { to: '/$account/lists', name: 'lists', permission: 'lists:read' },
      { to: '/$account/suppressions', name: 'suppressions', permission: 'suppressions:read' },
    ],
  },
  {
    title: 'nav.account',
    entries: [
      { to: '/$account/team', name: 'team', permission: 'users:read' },
      { to: '/$account/audit', name: 'audit', permission: 'audit:read' },
      { to: '/$account/settings', name: 'settings', permission: 'account:read' },
    ],
  },
];

/** The pages that the person's role can see, section by section. */
export function useSections(): readonly Section[] {
  const may = useMay();
  const { data: settings } = useSettings();
  const isThere = ({ name, permission }: Entry) =>
    may(permission) && (name !== 'inbox' || settings?.delivery === 'inbox');
  return sections
    .map(({ entries, ...section }) => ({ ...section, entries: entries.filter(isThere) }))
    .filter(({ entries }) => entries.length > 0);
}

/** The menu of the console. */
export function Navigation() {
  const { account = '' } = useParams({ strict: false });
  return (
    <ScrollArea>
      {useSections().map(({ title, entries }) => (
        <div key={title ?? ''} className="nav-section">
          {title !== undefined && <div className="nav-heading">{text(title)}</div>}
          {entries.map(({ to, name }) => (
            <PageLink
              key={to}
              to={to}
              params={{ account }}
              icon={name}
              label={text(`nav.${name}` as TextKey)}
              activeOptions={{ exact: to === '/$account' }}
              activeProps={{ 'data-active': true, 'aria-current': 'page' } as object}
            />
          ))}
        </div>
      ))}
    </ScrollArea>
  );
}
