import { createLink, useMatches, useParams } from '@tanstack/react-router';
import { type ComponentProps, useEffect } from 'react';
import { useMay, useMe } from '../account/use-me.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import { text } from '../texts/text.ts';

/** The pages of an account with their required permission, or `operator`; `href` for those outside of it. */
const pages = {
  overview: { permission: 'account:read', to: '/$account' },
  messages: { permission: 'messages:read', to: '/$account/messages' },
  scheduled: { permission: 'queue:read', to: '/$account/scheduled' },
  replies: { permission: 'messages:read', to: '/$account/messages/replies' },
  inbox: { permission: 'inbox:read', to: '/$account/inbox' },
  templates: { permission: 'templates:read', to: '/$account/templates' },
  reports: { permission: 'reports:read', to: '/$account/reports' },
  people: { permission: 'messages:read', to: '/$account/people' },
  suppressions: { permission: 'suppressions:read', to: '/$account/suppressions' },
  lists: { permission: 'lists:read', to: '/$account/lists' },
  domains: { permission: 'domains:read', to: '/$account/domains' },
  senders: { permission: 'senders:read', to: '/$account/senders' },
  destinations: { permission: 'queue:read', to: '/$account/destinations' },
  receivers: { permission: 'operator', to: '/$account/destinations/receivers' },
  tls: { permission: 'operator', to: '/$account/destinations/tls' },
  keys: { permission: 'keys:read', to: '/$account/keys' },
  smtp: { permission: 'keys:read', to: '/$account/smtp' },
  requests: { permission: 'messages:read', to: '/$account/requests' },
  integrations: { permission: 'integrations:read', to: '/$account/integrations' },
  outboxes: { permission: 'outbox:read', to: '/$account/outboxes' },
  docs: { permission: 'account:read', href: '/docs' },
  webhooks: { permission: 'webhooks:read', to: '/$account/webhooks' },
  settings: { permission: 'account:read', to: '/$account/settings' },
  team: { permission: 'users:read', to: '/$account/team' },
  access: { permission: 'policy:write', to: '/$account/settings/access' },
  privacy: { permission: 'privacy:read', to: '/$account/privacy' },
  audit: { permission: 'audit:read', to: '/$account/audit' },
  processes: { permission: 'operator', to: '/$account/settings/processes' },
  captured: { permission: 'operator', href: '/console/.server/inbox' },
} as const;

type PageName = keyof typeof pages;
type Page = (typeof pages)[PageName] & { readonly name: PageName };

/** The menu. What belongs together is one entry, whose pages are tabs. */
const areas = [
  { name: 'overview', icon: 'overview', pages: ['overview'] },
  { name: 'messages', icon: 'messages', pages: ['messages', 'scheduled', 'replies', 'inbox'] },
  { name: 'templates', icon: 'templates', pages: ['templates'] },
  { name: 'reports', icon: 'reports', pages: ['reports'] },
  { name: 'recipients', icon: 'lists', pages: ['people', 'suppressions', 'lists'] },
  { name: 'domains', icon: 'domains', pages: ['domains', 'senders'] },
  { name: 'delivery', icon: 'destinations', pages: ['destinations', 'receivers', 'tls'] },
  {
    name: 'developers',
    icon: 'keys',
    pages: ['keys', 'requests', 'smtp', 'integrations', 'outboxes', 'docs'],
  },
  { name: 'webhooks', icon: 'webhooks', pages: ['webhooks'] },
  { name: 'settings', icon: 'settings', pages: ['settings', 'team', 'access', 'privacy', 'audit'] },
  { name: 'server', icon: 'server', pages: ['processes', 'captured'] },
] as const satisfies readonly {
  readonly name: string;
  readonly icon: IconName;
  readonly pages: readonly PageName[];
}[];

/** The areas of the menu with the pages that the person's role can open. */
export function useAreas() {
  const may = useMay();
  const { data: me } = useMe();
  function isVisible({ name, permission }: Page): boolean {
    if (permission !== 'operator') return may(permission);
    return me?.operator === true && (name !== 'captured' || me.inbox);
  }
  return areas.flatMap(({ pages: names, ...area }) => {
    const visible = names.map((name): Page => ({ name, ...pages[name] })).filter(isVisible);
    const [first] = visible;
    return first === undefined ? [] : [{ ...area, first, pages: visible }];
  });
}

/** The area and the page of the address, which may be below that page, as a message is. */
function useHere() {
  const areas = useAreas();
  const here = useMatches({
    select: (matches) => matches.at(-1)?.fullPath.replace(/\/$/, '') ?? '',
  });
  const all = areas.flatMap(({ pages }) => pages);
  const page =
    all.find((one) => 'to' in one && one.to === here) ??
    all.find((one) => 'to' in one && one.name !== 'overview' && here.startsWith(`${one.to}/`));
  const area = areas.find(({ pages }) => page !== undefined && pages.includes(page));
  return { areas, area, page };
}

function NavLink({
  icon,
  label,
  ...rest
}: ComponentProps<'a'> & { icon?: IconName; label: string }) {
  return (
    <a {...rest}>
      {icon !== undefined && <Icon name={icon} size={17} />} {label}
    </a>
  );
}

const RoutedLink = createLink(NavLink);

interface PageLinkProps {
  page: Page;
  /** Whether the person is there, or at something that belongs to it. */
  isCurrent: boolean;
  className: string;
  icon?: IconName;
  label: string;
}

function PageLink({ page, isCurrent, ...rest }: PageLinkProps) {
  const { account = '' } = useParams({ strict: false });
  if ('href' in page) return <NavLink {...rest} href={page.href} />;
  return (
    <RoutedLink
      {...rest}
      {...(isCurrent && { 'data-active': true, 'aria-current': true })}
      to={page.to}
      params={{ account }}
      // Where it is the page itself, the router says that instead.
      activeOptions={{ exact: true, includeSearch: false }}
      activeProps={{}}
    />
  );
}

/** The menu of the console. */
export function Navigation() {
  const { areas, area } = useHere();
  return areas.map(({ name, icon, first }) => (
    <PageLink
      key={name}
      page={first}
      isCurrent={area?.name === name}
      className="nav-link"
      icon={icon}
      label={text(`area.${name}`)}
    />
  ));
}

/** The pages of the area, above each of them. */
export function AreaTabs() {
  const { area, page } = useHere();
  const shown = page?.name;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page can be out of sight on a phone
  useEffect(() => {
    document
      .querySelector('.page-tab[data-active]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [shown]);
  if (area === undefined || area.pages.length === 1) return null;
  return (
    <nav className="page-tabs" aria-label={text(`area.${area.name}`)}>
      {area.pages.map((one) => (
        <PageLink
          key={one.name}
          page={one}
          isCurrent={one === page}
          className="page-tab"
          label={text(`nav.${one.name}`)}
        />
      ))}
    </nav>
  );
}
