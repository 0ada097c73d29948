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

const entries: readonly Entry[] = [
  { to: '/$account', name: 'overview', permission: 'account:read' },
  { to: '/$account/messages', name: 'messages', permission: 'messages:read' },
  { to: '/$account/reports', name: 'reports', permission: 'reports:read' },
  { to: '/$account/templates', name: 'templates', permission: 'templates:read' },
  { to: '/$account/senders', name: 'senders', permission: 'senders:read' },
  { to: '/$account/domains', name: 'domains', permission: 'domains:read' },
  { to: '/$account/integrations', name: 'integrations', permission: 'integrations:read' },
  { to: '/$account/webhooks', name: 'webhooks', permission: 'webhooks:read' },
  { to: '/$account/lists', name: 'lists', permission: 'lists:read' },
  { to: '/$account/suppressions', name: 'suppressions', permission: 'suppressions:read' },
  { to: '/$account/destinations', name: 'destinations', permission: 'queue:read' },
  { to: '/$account/inbox', name: 'inbox', permission: 'inbox:read' },
  { to: '/$account/team', name: 'team', permission: 'users:read' },
  { to: '/$account/audit', name: 'audit', permission: 'audit:read' },
  { to: '/$account/settings', name: 'settings', permission: 'account:read' },
];

/** The pages that the person's role can see. */
export function Navigation() {
  const { account = '' } = useParams({ strict: false });
  const may = useMay();
  const { data: settings } = useSettings();
  const isThere = ({ name }: Entry) => name !== 'inbox' || settings?.delivery === 'inbox';
  return (
    <ScrollArea>
      {entries
        .filter((entry) => may(entry.permission) && isThere(entry))
        .map(({ to, name }) => (
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
    </ScrollArea>
  );
}
