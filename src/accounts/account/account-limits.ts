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

/**
 * What an account can have, so that none can fill the disk or slow down others. What an account has beyond a limit stays, and only
 * adding is refused. They are far above what customers have.
 */
export const accountLimits = {
  senders: { what: 'senders', table: 'sender', max: 5_000 },
  domains: { what: 'sending domains', table: 'sending_domain', max: 500 },
  domainKeys: {
    what: 'DKIM keys',
    table: 'dkim_key',
    max: 10,
    per: { what: 'domain', columns: ['domain'] },
  },
  pendingKeys: {
    what: 'DKIM keys of one algorithm waiting for their records',
    table: 'dkim_key',
    max: 2,
    per: { what: 'domain', columns: ['domain', 'algorithm'] },
    where: "state = 'pending'",
  },
  templates: { what: 'templates', table: 'template', max: 10_000 },
  versions: { what: 'template versions', table: 'template_version', max: 100_000 },
  versionsOfTemplate: {
    what: 'versions',
    table: 'template_version',
    max: 5_000,
    per: { what: 'template', columns: ['template_id'] },
  },
  variants: { what: 'variants of template versions', table: 'template_variant', max: 200_000 },
  secretFields: { what: 'secret fields of templates', table: 'template_secret', max: 200_000 },
  // Their names are part of what every version is cached by, and are compared with its fields when one is published.
  secretFieldsOfTemplate: {
    what: 'unrevealed secret fields',
    table: 'template_secret',
    max: 1_000,
    per: { what: 'template', columns: ['template_id'] },
    where: 'revealed_at is null',
  },
  drafts: { what: 'drafts', table: 'template_draft', max: 10_000 },
  templateImages: { what: 'images of template versions', table: 'template_image', max: 200_000 },
  images: { what: 'hosted images', table: 'hosted_image', max: 1_000 },
  lists: { what: 'contact lists', table: 'contact_list', max: 2_000 },
  contacts: { what: 'contacts', table: 'contact_list', max: 20_000_000, sum: 'source_size' },
  contactsOfList: {
    what: 'contacts',
    table: 'contact_list',
    max: 10_000_000,
    per: { what: 'list', columns: ['id'] },
    sum: 'source_size',
  },
  imports: { what: 'imports', table: 'file_import', max: 10_000 },
  suppressions: {
    what: 'suppressions that people or programs added',
    table: 'suppression',
    max: 5_000_000,
    where: "reason = 'manual'",
  },
  integrations: { what: 'OAuth apps', table: 'integration', max: 1_000 },
  apiKeys: { what: 'API keys', table: 'api_key', max: 1_000 },
  webhooks: { what: 'webhooks', table: 'webhook_endpoint', max: 50 },
  users: { what: 'users', table: 'membership', max: 10_000 },
  invitations: { what: 'open invitations', table: 'invitation', max: 5_000 },
  savedFilters: {
    what: 'saved filters',
    table: 'saved_filter',
    max: 50,
    per: { what: 'person', columns: ['person_id'] },
  },
  pauses: { what: 'paused destinations', table: 'delivery_pause', max: 1_000 },
} as const satisfies Readonly<Record<string, AccountLimit>>;
