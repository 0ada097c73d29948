import { createRootRoute, createRoute, createRouter, Outlet } from '@tanstack/react-router';
import { readAuditFilters } from './audit/audit-filters.ts';
import { lazyComponent } from './components/lazy-component.ts';
import { NotFoundPage } from './layout/not-found-page.tsx';
import { PageFailure } from './layout/page-failure.tsx';
import { Shell } from './layout/shell.tsx';
import { StartPage } from './layout/start-page.tsx';
import { readMessageFilters } from './message/message-filters.ts';
import { readReplyFilters } from './reply/reply-filters.ts';
import { readReportFilters } from './report/report-filters.ts';
import { readScheduleFilters } from './schedule/schedule-filters.ts';
import { readSuppressionFilters } from './suppression/suppression-filters.ts';
import { readVersionFilters } from './template/version-filters.ts';
import { readWebhookFilters } from './webhook/webhook-filters.ts';

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
  component: lazyComponent(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
});

const messages = createRoute({
  getParentRoute: () => account,
  path: '/messages',
  validateSearch: readMessageFilters,
  component: lazyComponent(() => import('./message/messages-page.tsx'), 'MessagesPage'),
});

const replies = createRoute({
  getParentRoute: () => account,
  path: '/messages/replies',
  validateSearch: readReplyFilters,
  component: lazyComponent(() => import('./reply/replies-page.tsx'), 'RepliesPage'),
});

const message = createRoute({
  getParentRoute: () => account,
  path: '/messages/$message',
  component: lazyComponent(() => import('./message/message-page.tsx'), 'MessagePage'),
});

/** The same page below “Scheduled”, which it is reached from. */
const scheduledMessage = createRoute({
  getParentRoute: () => account,
  path: '/scheduled/$message',
  component: lazyComponent(() => import('./message/message-page.tsx'), 'MessagePage'),
});
const scheduled = createRoute({
  getParentRoute: () => account,
  path: '/scheduled',
  validateSearch: readScheduleFilters,
  component: lazyComponent(() => import('./schedule/scheduled-page.tsx'), 'ScheduledPage'),
});

const templates = createRoute({
  getParentRoute: () => account,
  path: '/templates',
  component: lazyComponent(() => import('./template/templates-page.tsx'), 'TemplatesPage'),
});

const template = createRoute({
  getParentRoute: () => account,
  path: '/templates/$template',
  validateSearch: ({ view }): { view?: 'preview' } => (view === 'preview' ? { view } : {}),
  component: lazyComponent(() => import('./template/editor/editor-page.tsx'), 'EditorPage'),
});

const versions = createRoute({
  getParentRoute: () => account,
  path: '/templates/$template/versions',
  validateSearch: readVersionFilters,
  component: lazyComponent(() => import('./template/versions-page.tsx'), 'VersionsPage'),
});

const useTemplate = createRoute({
  getParentRoute: () => account,
  path: '/templates/$template/use',
  component: lazyComponent(() => import('./template/use-page.tsx'), 'UsePage'),
});

const senders = createRoute({
  getParentRoute: () => account,
  path: '/senders',
  component: lazyComponent(() => import('./sender/senders-page.tsx'), 'SendersPage'),
});

const integrations = createRoute({
  getParentRoute: () => account,
  path: '/integrations',
  component: lazyComponent(() => import('./integration/integrations-page.tsx'), 'IntegrationsPage'),
});

const keys = createRoute({
  getParentRoute: () => account,
  path: '/keys',
  component: lazyComponent(() => import('./key/keys-page.tsx'), 'KeysPage'),
});

const smtp = createRoute({
  getParentRoute: () => account,
  path: '/smtp',
  component: lazyComponent(() => import('./smtp/smtp-page.tsx'), 'SmtpPage'),
});

const lists = createRoute({
  getParentRoute: () => account,
  path: '/lists',
  component: lazyComponent(() => import('./list/lists-page.tsx'), 'ListsPage'),
});

const list = createRoute({
  getParentRoute: () => account,
  path: '/lists/$list',
  component: lazyComponent(() => import('./list/list-page.tsx'), 'ListPage'),
});

const suppressions = createRoute({
  getParentRoute: () => account,
  path: '/suppressions',
  validateSearch: readSuppressionFilters,
  component: lazyComponent(() => import('./suppression/suppressions-page.tsx'), 'SuppressionsPage'),
});

const destinations = createRoute({
  getParentRoute: () => account,
  path: '/destinations',
  component: lazyComponent(() => import('./destination/destinations-page.tsx'), 'DestinationsPage'),
});

const receivers = createRoute({
  getParentRoute: () => account,
  path: '/destinations/receivers',
  component: lazyComponent(() => import('./destination/receivers-page.tsx'), 'ReceiversPage'),
});

const processes = createRoute({
  getParentRoute: () => account,
  path: '/settings/processes',
  component: lazyComponent(() => import('./settings/processes-page.tsx'), 'ProcessesPage'),
});

const tls = createRoute({
  getParentRoute: () => account,
  path: '/destinations/tls',
  component: lazyComponent(() => import('./destination/tls-page.tsx'), 'TlsPage'),
});

const team = createRoute({
  getParentRoute: () => account,
  path: '/team',
  component: lazyComponent(() => import('./team/team-page.tsx'), 'TeamPage'),
});

const audit = createRoute({
  getParentRoute: () => account,
  path: '/audit',
  validateSearch: readAuditFilters,
  component: lazyComponent(() => import('./audit/audit-page.tsx'), 'AuditPage'),
});

const settings = createRoute({
  getParentRoute: () => account,
  path: '/settings',
  component: lazyComponent(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
});

const accessSettings = createRoute({
  getParentRoute: () => account,
  path: '/settings/access',
  component: lazyComponent(
    () => import('./settings/access-settings-page.tsx'),
    'AccessSettingsPage',
  ),
});

const privacy = createRoute({
  getParentRoute: () => account,
  path: '/privacy',
  component: lazyComponent(() => import('./settings/privacy-page.tsx'), 'PrivacyPage'),
});

const inbox = createRoute({
  getParentRoute: () => account,
  path: '/inbox',
  component: lazyComponent(() => import('./inbox/inbox-page.tsx'), 'InboxPage'),
});

const mail = createRoute({
  getParentRoute: () => account,
  path: '/inbox/$mail',
  component: lazyComponent(() => import('./inbox/mail-page.tsx'), 'MailPage'),
});

const reports = createRoute({
  getParentRoute: () => account,
  path: '/reports',
  validateSearch: readReportFilters,
  component: lazyComponent(() => import('./report/reports-page.tsx'), 'ReportsPage'),
});

const domains = createRoute({
  getParentRoute: () => account,
  path: '/domains',
  component: lazyComponent(() => import('./domain/domains-page.tsx'), 'DomainsPage'),
});

const domain = createRoute({
  getParentRoute: () => account,
  path: '/domains/$domain',
  component: lazyComponent(() => import('./domain/domain-page.tsx'), 'DomainPage'),
});

const webhooks = createRoute({
  getParentRoute: () => account,
  path: '/webhooks',
  component: lazyComponent(() => import('./webhook/webhooks-page.tsx'), 'WebhooksPage'),
});

const webhook = createRoute({
  getParentRoute: () => account,
  path: '/webhooks/$webhook',
  validateSearch: readWebhookFilters,
  component: lazyComponent(() => import('./webhook/webhook-page.tsx'), 'WebhookPage'),
});

const tree = root.addChildren([
  start,
  account.addChildren([
    overview,
    messages,
    replies,
    message,
    scheduled,
    scheduledMessage,
    templates,
    template,
    versions,
    useTemplate,
    senders,
    keys,
    smtp,
    integrations,
    lists,
    list,
    suppressions,
    destinations,
    receivers,
    processes,
    tls,
    team,
    audit,
    reports,
    domains,
    domain,
    webhooks,
    webhook,
    settings,
    accessSettings,
    privacy,
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
