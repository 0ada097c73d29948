import { createRootRoute, createRoute, createRouter, Outlet } from '@tanstack/react-router';
import { NotFoundPage } from './layout/not-found-page.tsx';
import { PageFailure } from './layout/page-failure.tsx';
import { Shell } from './layout/shell.tsx';
import { StartPage } from './layout/start-page.tsx';
import { readMessageFilters } from './message/message-filters.ts';
import { lazyPart } from './parts/lazy-part.ts';
import { readReportFilters } from './report/report-filters.ts';
import { readSuppressionFilters } from './suppression/suppression-filters.ts';

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage });

const start = createRoute({ getParentRoute: () => root, path: '/', component: StartPage });

const account = createRoute({
  getParentRoute: () => root,
  path: '/$account',
  component: Shell,
});

const overview = createRoute({
  getParentRoute: () => account,
  path: '/',
  component: lazyPart(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
});

const messages = createRoute({
  getParentRoute: () => account,
  path: '/messages',
  validateSearch: readMessageFilters,
  component: lazyPart(() => import('./message/messages-page.tsx'), 'MessagesPage'),
});

const message = createRoute({
  getParentRoute: () => account,
  path: '/messages/$message',
  component: lazyPart(() => import('./message/message-page.tsx'), 'MessagePage'),
});

const templates = createRoute({
  getParentRoute: () => account,
  path: '/templates',
  component: lazyPart(() => import('./template/templates-page.tsx'), 'TemplatesPage'),
});

const template = createRoute({
  getParentRoute: () => account,
  path: '/templates/$template',
  component: lazyPart(() => import('./template/editor/editor-page.tsx'), 'EditorPage'),
});

const versions = createRoute({
  getParentRoute: () => account,
  path: '/templates/$template/versions',
  component: lazyPart(() => import('./template/versions-page.tsx'), 'VersionsPage'),
});

const useTemplate = createRoute({
  getParentRoute: () => account,
  path: '/templates/$template/use',
  component: lazyPart(() => import('./template/use-page.tsx'), 'UsePage'),
});

const senders = createRoute({
  getParentRoute: () => account,
  path: '/senders',
  component: lazyPart(() => import('./sender/senders-page.tsx'), 'SendersPage'),
});

const integrations = createRoute({
  getParentRoute: () => account,
  path: '/integrations',
  component: lazyPart(() => import('./integration/integrations-page.tsx'), 'IntegrationsPage'),
});

const lists = createRoute({
  getParentRoute: () => account,
  path: '/lists',
  component: lazyPart(() => import('./list/lists-page.tsx'), 'ListsPage'),
});

const list = createRoute({
  getParentRoute: () => account,
  path: '/lists/$list',
  component: lazyPart(() => import('./list/list-page.tsx'), 'ListPage'),
});

const suppressions = createRoute({
  getParentRoute: () => account,
  path: '/suppressions',
  validateSearch: readSuppressionFilters,
  component: lazyPart(() => import('./suppression/suppressions-page.tsx'), 'SuppressionsPage'),
});

const destinations = createRoute({
  getParentRoute: () => account,
  path: '/destinations',
  component: lazyPart(() => import('./destination/destinations-page.tsx'), 'DestinationsPage'),
});

const team = createRoute({
  getParentRoute: () => account,
  path: '/team',
  component: lazyPart(() => import('./team/team-page.tsx'), 'TeamPage'),
});

const audit = createRoute({
  getParentRoute: () => account,
  path: '/audit',
  component: lazyPart(() => import('./audit/audit-page.tsx'), 'AuditPage'),
});

const settings = createRoute({
  getParentRoute: () => account,
  path: '/settings',
  component: lazyPart(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
});

const inbox = createRoute({
  getParentRoute: () => account,
  path: '/inbox',
  component: lazyPart(() => import('./inbox/inbox-page.tsx'), 'InboxPage'),
});

const mail = createRoute({
  getParentRoute: () => account,
  path: '/inbox/$mail',
  component: lazyPart(() => import('./inbox/mail-page.tsx'), 'MailPage'),
});

const reports = createRoute({
  getParentRoute: () => account,
  path: '/reports',
  validateSearch: readReportFilters,
  component: lazyPart(() => import('./report/reports-page.tsx'), 'ReportsPage'),
});

const domains = createRoute({
  getParentRoute: () => account,
  path: '/domains',
  component: lazyPart(() => import('./domain/domains-page.tsx'), 'DomainsPage'),
});

const domain = createRoute({
  getParentRoute: () => account,
  path: '/domains/$domain',
  component: lazyPart(() => import('./domain/domain-page.tsx'), 'DomainPage'),
});

const webhooks = createRoute({
  getParentRoute: () => account,
  path: '/webhooks',
  component: lazyPart(() => import('./webhook/webhooks-page.tsx'), 'WebhooksPage'),
});

const webhook = createRoute({
  getParentRoute: () => account,
  path: '/webhooks/$webhook',
  component: lazyPart(() => import('./webhook/webhook-page.tsx'), 'WebhookPage'),
});

const tree = root.addChildren([
  start,
  account.addChildren([
    overview,
    messages,
    message,
    templates,
    template,
    versions,
    useTemplate,
    senders,
    integrations,
    lists,
    list,
    suppressions,
    destinations,
    team,
    audit,
    reports,
    domains,
    domain,
    webhooks,
    webhook,
    settings,
    inbox,
    mail,
  ]),
]);

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
