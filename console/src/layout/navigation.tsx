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
  { name: 'developers', icon: 'keys', pages: ['keys', 'smtp', 'integrations', 'outboxes', 'docs'] },
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
  const exact = all.find((page) => 'to' in page && page.to === here);
  const page =
    exact ??
    all.find((page) => 'to' in page && page.name !== 'overview' && here.startsWith(`${page.to}/`));
  const area = areas.find(({ pages }) => page !== undefined && pages.includes(page));
  return { areas, area, page, isBelow: exact === undefined };
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
  /** Whether it leads to where the person is, or is an ancestor of that. */
  current: 'page' | true | undefined;
  className: string;
  icon?: IconName;
  label: string;
}

function PageLink({ page, current, ...rest }: PageLinkProps) {
  const { account = '' } = useParams({ strict: false });
  if ('href' in page) return <NavLink {...rest} href={page.href} />;
  const state = current && { 'data-active': true, 'aria-current': current };
  return <RoutedLink {...rest} {...state} to={page.to} params={{ account }} activeProps={{}} />;
}

/** The menu of the console. */
export function Navigation() {
  const { areas, area, page, isBelow } = useHere();
  return areas.map(({ name, icon, first }) => (
    <PageLink
      key={name}
      page={first}
      current={area?.name === name ? (page === first && !isBelow ? 'page' : true) : undefined}
      className="nav-link"
      icon={icon}
      label={text(`area.${name}`)}
    />
  ));
}

/** The pages of the area, above each of them. */
export function AreaTabs() {
  const { area, page, isBelow } = useHere();
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
          current={one === page ? (isBelow ? true : 'page') : undefined}
          className="page-tab"
          label={text(`nav.${one.name}`)}
        />
      ))}
    </nav>
  );
}
