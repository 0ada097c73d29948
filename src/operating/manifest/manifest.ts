import type { Account } from '../../accounts/account/account.ts';
import type { AccountId, ListId, TemplateId } from '../../base/values/ids.ts';
import type { AttachmentContent } from '../../content/message/attachment-store.ts';
import type { TemplateSource } from '../../content/template/template-source.ts';
import type { WhenUncertain } from '../../content/template/template-store.ts';
import type { Locate, ManifestPath } from './manifest-problems.ts';
import type { RawIntegration, RawOutboxSource, RawSender, RawUser } from './manifest-schema.ts';

/** A parsed manifest: every value is valid on its own and its files are read. Omitted members are undefined. */
export interface Manifest {
  readonly locate: Locate;
  readonly accounts: readonly ManifestAccount[];
}

export interface ManifestAccount {
  readonly path: ManifestPath;
  readonly id: AccountId;
  /** The settings that the file has; undefined: it removes them. */
  readonly settings: Partial<Account> & Pick<Account, 'name'>;
  /** The sections that the file has. Nothing is removed from others. */
  readonly sections: ReadonlySet<ManifestSection>;
  readonly users: readonly ManifestUser[];
  readonly senders: readonly ManifestSender[];
  readonly integrations: readonly ManifestIntegration[];
  readonly templates: readonly ManifestTemplate[];
  readonly lists: readonly ManifestList[];
  readonly outboxSources: readonly ManifestOutboxSource[];
}

export const manifestSections = [
  'users',
  'senders',
  'integrations',
  'templates',
  'lists',
  'outboxSources',
] as const;

export type ManifestSection = (typeof manifestSections)[number];

/** An entry of a section, with its place. Addresses are in lower case. */
type Placed<Raw> = Readonly<Raw> & { readonly path: ManifestPath };

export type ManifestUser = Placed<RawUser>;
export type ManifestSender = Placed<RawSender>;
export type ManifestIntegration = Placed<RawIntegration>;
export type ManifestOutboxSource = Placed<RawOutboxSource>;

export type SourceFiles = Readonly<Partial<Record<'html' | 'mjml' | 'text', string>>>;

export interface ManifestTemplate {
  readonly path: ManifestPath;
  readonly id: TemplateId;
  readonly name: string;
  readonly createdBy: string;
  readonly sender: string | undefined;
  readonly freshnessSeconds: number;
  /** Undefined: unchanged, or `resend` for a new template. */
  readonly whenUncertain: WhenUncertain | undefined;
  readonly source: TemplateSource;
  /** Contents of its images; those that the account has already are not among them. */
  readonly imageContents: readonly AttachmentContent[];
  /** The files of the source parts, as named in the manifest. */
  readonly files: SourceFiles;
  /** Those of the variants, by locale. */
  readonly variantFiles: Readonly<Record<string, SourceFiles>>;
  /** Hash of source, sender and freshness. */
  readonly contentHash: Buffer;
}

export interface ManifestList {
  readonly path: ManifestPath;
  readonly id: ListId;
  readonly name: string;
  readonly folderName?: string;
  readonly description?: string;
  readonly contacts: ManifestContacts | undefined;
}

export interface ManifestContacts {
  readonly rows: readonly ManifestContact[];
  /** Hash of the rows, independent of their order. */
  readonly contentHash: Buffer;
}

export interface ManifestContact {
  readonly email: string;
  /** The other columns by name. */
  readonly fields: Readonly<Record<string, string>>;
}
