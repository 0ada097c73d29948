import { NavLink, type NavLinkProps, ScrollArea } from '@mantine/core';
import { createLink, useParams } from '@tanstack/react-router';
import { useMay } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import { type TextKey, text } from '../texts/text.ts';

function PlainNavLink(props: NavLinkProps & { icon: IconName; href?: string }) {
  const { icon, ...rest } = props;
  return (
    <NavLink component="a" leftSection={<Icon name={icon} />} {...rest} className="nav-link" />
  );
}

const PageLink = createLink(PlainNavLink);

/** Menu pages with their required permission. */
const permissions = {
  overview: 'account:read',
  messages: 'messages:read',
  scheduled: 'queue:read',
  reports: 'reports:read',
  inbox: 'inbox:read',
  templates: 'templates:read',
  integrations: 'integrations:read',
  webhooks: 'webhooks:read',
  senders: 'senders:read',
  domains: 'domains:read',
  destinations: 'queue:read',
  lists: 'lists:read',
  suppressions: 'suppressions:read',
  team: 'users:read',
  audit: 'audit:read',
  settings: 'account:read',
} as const satisfies Partial<Record<IconName, string>>;

type PageName = keyof typeof permissions;

interface Section {
  /** Undefined for the first section, which has no heading. */
  readonly title?: TextKey;
  readonly names: readonly PageName[];
}

const sections: readonly Section[] = [
  { names: ['overview', 'messages', 'scheduled', 'reports', 'inbox'] },
  { title: 'nav.build', names: ['templates', 'integrations', 'webhooks'] },
  { title: 'nav.deliver', names: ['senders', 'domains', 'destinations'] },
  { title: 'nav.people', names: ['lists', 'suppressions'] },
  { title: 'nav.account', names: ['team', 'audit', 'settings'] },
];

function routeOf(name: PageName) {
  return name === 'overview' ? '/$account' : (`/$account/${name}` as const);
}

/** The pages visible to the person's role, by section. */
export function useSections() {
  const may = useMay();
  const { data: settings } = useSettings();
  const isVisible = (name: PageName) =>
    may(permissions[name]) && (name !== 'inbox' || settings?.delivery === 'inbox');
  return sections
    .map(({ title, names }) => ({
      title,
      entries: names.filter(isVisible).map((name) => ({ name, to: routeOf(name) })),
    }))
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
              label={text(`nav.${name}`)}
              activeOptions={{ exact: to === '/$account' }}
              activeProps={{ 'data-active': true, 'aria-current': 'page' } as object}
            />
          ))}
        </div>
      ))}
    </ScrollArea>
  );
}
