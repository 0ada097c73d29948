import type { Tables } from '../../base/database/open-database.ts';

/** The most that an account can have of one kind of thing. */
export interface AccountLimit {
  /** In the plural. */
  readonly what: string;
  readonly table: keyof Tables;
  readonly max: number;
  /** The limit is for each of these. */
  readonly per?: { readonly what: string; readonly columns: readonly string[] };
  /** A condition on the rows that count. */
  readonly where?: string;
  /** The sum of this column counts, not the rows. */
  readonly sum?: string;
}

type Rules = Pick<AccountLimit, 'per' | 'where' | 'sum'>;

function limit(
  what: string,
  table: AccountLimit['table'],
  max: number,
  rules: Rules = {},
): AccountLimit {
  return { what, table, max, ...rules };
}

function per(what: string, ...columns: readonly string[]): Rules {
  return { per: { what, columns } };
}

/**
 * What an account can have, so that none can fill the disk or slow down others. What an account has beyond a limit stays, and only
 * adding is refused. They are far above what customers have.
 */
export const accountLimits = {
  senders: limit('senders', 'sender', 5_000),
  domains: limit('sending domains', 'sending_domain', 500),
  domainKeys: limit('DKIM keys', 'dkim_key', 10, per('domain', 'domain')),
  pendingKeys: limit('DKIM keys of one algorithm waiting for their records', 'dkim_key', 2, {
    ...per('domain', 'domain', 'algorithm'),
    where: "state = 'pending'",
  }),
  templates: limit('templates', 'template', 10_000),
  versions: limit('template versions', 'template_version', 100_000),
  versionsOfTemplate: limit('versions', 'template_version', 5_000, per('template', 'template_id')),
  variants: limit('variants of template versions', 'template_variant', 200_000),
  secretFields: limit('secret fields of templates', 'template_secret', 200_000),
  // Their names are part of what every version is cached by, and are compared with its fields when one is published.
  secretFieldsOfTemplate: limit('unrevealed secret fields', 'template_secret', 1_000, {
    ...per('template', 'template_id'),
    where: 'revealed_at is null',
  }),
  drafts: limit('drafts', 'template_draft', 10_000),
  templateImages: limit('images of template versions', 'template_image', 200_000),
  images: limit('hosted images', 'hosted_image', 1_000),
  lists: limit('contact lists', 'contact_list', 2_000),
  contacts: limit('contacts', 'contact_list', 20_000_000, { sum: 'source_size' }),
  contactsOfList: limit('contacts', 'contact_list', 10_000_000, {
    ...per('list', 'id'),
    sum: 'source_size',
  }),
  imports: limit('imports', 'file_import', 10_000),
  suppressions: limit('suppressions that people or programs added', 'suppression', 5_000_000, {
    where: "reason = 'manual'",
  }),
  integrations: limit('OAuth apps', 'integration', 1_000),
  apiKeys: limit('API keys', 'api_key', 1_000),
  webhooks: limit('webhooks', 'webhook_endpoint', 50),
  outboxSources: limit('outbox sources', 'outbox_source', 10),
  users: limit('users', 'membership', 10_000),
  invitations: limit('open invitations', 'invitation', 5_000),
  savedFilters: limit('saved filters', 'saved_filter', 50, per('person', 'person_id')),
  pauses: limit('paused destinations', 'delivery_pause', 1_000),
};
