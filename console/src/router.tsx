import {
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { readAuditFilters } from './audit/audit-filters.ts';
import { type Components, lazyComponent } from './components/lazy-component.ts';
import { readInboxFilters } from './inbox/inbox-filters.ts';
import { NotFoundPage } from './layout/not-found-page.tsx';
import { PageFailure } from './layout/page-failure.tsx';
import { Shell } from './layout/shell.tsx';
import { StartPage } from './layout/start-page.tsx';
import { readMessageFilters } from './message/message-filters.ts';
import { readPersonFilter } from './person/person-filter.ts';
import { readReplyFilters } from './reply/reply-filters.ts';
import { readReportFilters } from './report/report-filters.ts';
import { readRequestFilter } from './request/request-filter.ts';
import { readScheduleFilters } from './schedule/schedule-filters.ts';
import { readSuppressionFilters } from './suppression/suppression-filters.ts';
import { readVersionFilters } from './template/version-filters.ts';
import { readWebhookFilters } from './webhook/webhook-filters.ts';

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage });

const account = createRoute({
  getParentRoute: () => root,
  path: '/$account',
  component: Shell,
});

/** A page of an account, loaded on demand. */
function pageOf<const Path extends string, Module extends Components, Name extends keyof Module>(
  path: Path,
  load: () => Promise<Module>,
  name: Name,
) {
  return { getParentRoute: () => account, path, component: lazyComponent(load, name) };
}

/** A page without filters in its address. */
function page<const Path extends string, Module extends Components, Name extends keyof Module>(
  ...given: Parameters<typeof pageOf<Path, Module, Name>>
) {
  return createRoute(pageOf(...given));
}

const start = createRoute({ getParentRoute: () => root, path: '/', component: StartPage });

// Outside the tree, whose type would otherwise hide what each page takes.
const pages = [
  page('/', () => import('./overview/overview-page.tsx'), 'OverviewPage'),
  createRoute({
    ...pageOf('/messages', () => import('./message/messages-page.tsx'), 'MessagesPage'),
    validateSearch: readMessageFilters,
  }),
  createRoute({
    ...pageOf('/messages/replies', () => import('./reply/replies-page.tsx'), 'RepliesPage'),
    validateSearch: readReplyFilters,
  }),
  page('/messages/$message', () => import('./message/message-page.tsx'), 'MessagePage'),
  createRoute({
    ...pageOf('/scheduled', () => import('./schedule/scheduled-page.tsx'), 'ScheduledPage'),
    validateSearch: readScheduleFilters,
  }),
  // The same page below “Scheduled”, which it is reached from.
  page('/scheduled/$message', () => import('./message/message-page.tsx'), 'MessagePage'),
  page('/templates', () => import('./template/templates-page.tsx'), 'TemplatesPage'),
  createRoute({
    ...pageOf(
      '/templates/$template',
      () => import('./template/editor/editor-page.tsx'),
      'EditorPage',
    ),
    validateSearch: ({ view }): { view?: 'preview' } => (view === 'preview' ? { view } : {}),
  }),
  createRoute({
    ...pageOf(
      '/templates/$template/versions',
      () => import('./template/versions-page.tsx'),
      'VersionsPage',
    ),
    validateSearch: readVersionFilters,
  }),
  page('/templates/$template/use', () => import('./template/use-page.tsx'), 'UsePage'),
  page('/senders', () => import('./sender/senders-page.tsx'), 'SendersPage'),
  page('/keys', () => import('./key/keys-page.tsx'), 'KeysPage'),
  createRoute({
    ...pageOf('/requests', () => import('./request/requests-page.tsx'), 'RequestsPage'),
    validateSearch: readRequestFilter,
  }),
  page('/smtp', () => import('./smtp/smtp-page.tsx'), 'SmtpPage'),
  page('/integrations', () => import('./integration/integrations-page.tsx'), 'IntegrationsPage'),
  page('/lists', () => import('./list/lists-page.tsx'), 'ListsPage'),
  page('/lists/$list', () => import('./list/list-page.tsx'), 'ListPage'),
  createRoute({
    ...pageOf('/people', () => import('./person/people-page.tsx'), 'PeoplePage'),
    validateSearch: readPersonFilter,
  }),
  createRoute({
    ...pageOf(
      '/suppressions',
      () => import('./suppression/suppressions-page.tsx'),
      'SuppressionsPage',
    ),
    validateSearch: readSuppressionFilters,
  }),
  page('/destinations', () => import('./destination/destinations-page.tsx'), 'DestinationsPage'),
  page(
    '/destinations/receivers',
    () => import('./destination/receivers-page.tsx'),
    'ReceiversPage',
  ),
  page('/settings/processes', () => import('./settings/processes-page.tsx'), 'ProcessesPage'),
  page('/destinations/tls', () => import('./destination/tls-page.tsx'), 'TlsPage'),
  page('/team', () => import('./team/team-page.tsx'), 'TeamPage'),
  createRoute({
    ...pageOf('/audit', () => import('./audit/audit-page.tsx'), 'AuditPage'),
    validateSearch: readAuditFilters,
  }),
  createRoute({
    ...pageOf('/reports', () => import('./report/reports-page.tsx'), 'ReportsPage'),
    validateSearch: readReportFilters,
  }),
  page('/domains', () => import('./domain/domains-page.tsx'), 'DomainsPage'),
  page('/domains/$domain', () => import('./domain/domain-page.tsx'), 'DomainPage'),
  page('/webhooks', () => import('./webhook/webhooks-page.tsx'), 'WebhooksPage'),
  createRoute({
    ...pageOf('/webhooks/$webhook', () => import('./webhook/webhook-page.tsx'), 'WebhookPage'),
    validateSearch: readWebhookFilters,
  }),
  page('/outboxes', () => import('./outbox/outboxes-page.tsx'), 'OutboxesPage'),
  page('/settings', () => import('./settings/settings-page.tsx'), 'SettingsPage'),
  page(
    '/settings/access',
    () => import('./settings/access-settings-page.tsx'),
    'AccessSettingsPage',
  ),
  page('/privacy', () => import('./settings/privacy-page.tsx'), 'PrivacyPage'),
  createRoute({
    ...pageOf('/inbox', () => import('./inbox/inbox-page.tsx'), 'InboxPage'),
    validateSearch: readInboxFilters,
  }),
  createRoute({
    getParentRoute: () => account,
    path: '/inbox/$mail',
    beforeLoad({ params: { account: of, mail } }) {
      throw redirect({ to: '/$account/inbox', params: { account: of }, search: { mail } });
    },
  }),
] as const;

/** No account has an ID with a dot. */
const serverInbox = createRoute({
  getParentRoute: () => root,
  path: '/.server/inbox',
  component: lazyComponent(() => import('./inbox/inbox-page.tsx'), 'ServerInboxPage'),
  validateSearch: readInboxFilters,
});

const tree = root.addChildren([start, serverInbox, account.addChildren(pages)]);

export const router = createRouter({
  routeTree: tree,
  basepath: '/console',
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailure,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
