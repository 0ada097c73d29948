import { createLink, useLocation, useParams } from '@tanstack/react-router';
import { type ComponentProps, useEffect } from 'react';
import { useMay, useMe } from '../account/use-me.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import { type TextKey, text } from '../texts/text.ts';

function NavLink({
  icon,
  label,
  ...rest
}: ComponentProps<'a'> & { icon: IconName; label: string }) {
  return (
    <a {...rest} className="nav-link">
      <Icon name={icon} size={17} /> {label}
    </a>
  );
}

const PageLink = createLink(NavLink);

/** Menu pages with their required permission; `href` for pages outside the console. */
const pages = {
  overview: { permission: 'account:read' },
  messages: { permission: 'messages:read' },
  scheduled: { permission: 'queue:read' },
  reports: { permission: 'reports:read' },
  inbox: { permission: 'inbox:read' },
  templates: { permission: 'templates:read' },
  domains: { permission: 'domains:read' },
  senders: { permission: 'senders:read' },
  destinations: { permission: 'queue:read' },
  suppressions: { permission: 'suppressions:read' },
  lists: { permission: 'lists:read' },
  keys: { permission: 'keys:read' },
  smtp: { permission: 'keys:read' },
  integrations: { permission: 'integrations:read' },
  webhooks: { permission: 'webhooks:read' },
  outboxes: { permission: 'outbox:read' },
  docs: { permission: 'account:read', href: '/docs' },
  team: { permission: 'users:read' },
  security: { permission: 'account:read', href: '/me' },
  privacy: { permission: 'privacy:read' },
  audit: { permission: 'audit:read' },
  server: { permission: 'operate', href: '/console/.server/inbox' },
  settings: { permission: 'account:read' },
} as const satisfies Partial<
  Record<IconName, { readonly permission: string; readonly href?: string }>
>;

type PageName = keyof typeof pages;
type ConsolePageName = Exclude<PageName, 'docs' | 'security' | 'server'>;

interface Section {
  /** Undefined for a section without a heading. */
  readonly title?: TextKey;
  readonly names: readonly PageName[];
}

/** The menu, by the question that brings someone here. */
const sections: readonly Section[] = [
  { names: ['overview', 'templates'] },
  { title: 'nav.activity', names: ['messages', 'scheduled', 'reports', 'inbox'] },
  { title: 'nav.sending', names: ['domains', 'senders'] },
  { title: 'nav.delivery', names: ['destinations'] },
  { title: 'nav.audience', names: ['suppressions', 'lists'] },
  {
    title: 'nav.developers',
    names: ['keys', 'smtp', 'integrations', 'webhooks', 'outboxes', 'docs'],
  },
  { title: 'nav.configure', names: ['team', 'security', 'privacy', 'audit', 'settings', 'server'] },
];

function targetOf(name: PageName) {
  const page = pages[name];
  if ('href' in page) return { name, href: page.href };
  if (name === 'overview') return { name, to: '/$account' as const };
  return { name, to: `/$account/${name as Exclude<ConsolePageName, 'overview'>}` as const };
}

/** The pages visible to the person's role, by section. */
export function useSections() {
  const may = useMay();
  const { data: me } = useMe();
  const isVisible = (name: PageName) =>
    name === 'server' ? me?.operator === true && me.inbox : may(pages[name].permission);
  return sections
    .map(({ title, names }) => ({ title, entries: names.filter(isVisible).map(targetOf) }))
    .filter(({ entries }) => entries.length > 0);
}

/** The menu of the console. */
export function Navigation() {
  const { account = '' } = useParams({ strict: false });
  const sections = useSections();
  const path = useLocation({ select: (location) => location.pathname });
  const count = sections.length;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the current page and the visible pages decide what is shown
  useEffect(() => {
    document.querySelector('.nav-link[data-active]')?.scrollIntoView({ block: 'nearest' });
  }, [path, count]);

  return sections.map(({ title, entries }) => (
    <div key={entries[0]?.name} className="nav-section">
      {title !== undefined && <div className="nav-heading">{text(title)}</div>}
      {entries.map(({ name, ...target }) => {
        const label = text(`nav.${name}`);
        return target.to === undefined ? (
          <NavLink key={name} href={target.href} icon={name} label={label} />
        ) : (
          <PageLink
            key={name}
            to={target.to}
            params={{ account }}
            icon={name}
            label={label}
            activeOptions={{ exact: name === 'overview' }}
            activeProps={{ 'data-active': true, 'aria-current': 'page' } as object}
          />
        );
      })}
    </div>
  ));
}
