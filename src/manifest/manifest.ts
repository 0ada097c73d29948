import type { AccessPolicy, Quota, RetentionDays, Role } from '../account/account.ts';
import type { ComparableAddress, EmailAddress } from '../foundation/email-address.ts';
import type { AccountId, ClientId, ListId, TemplateId } from '../foundation/ids.ts';
import type { AttachmentContent } from '../message/attachment-store.ts';
import type { GrantType } from '../session/integration-store.ts';
import type { TemplateSource } from '../template/template-source.ts';
import type { WhenUncertain } from '../template/template-store.ts';
import type { Locate, ManifestPath } from './manifest-problems.ts';

/** A parsed manifest: every value is valid on its own and its files are read. Omitted members are undefined. */
export interface Manifest {
  readonly locate: Locate;
  readonly accounts: readonly ManifestAccount[];
}

export interface ManifestAccount {
  readonly path: ManifestPath;
  readonly id: AccountId;
  readonly name: string;
  readonly addOns: readonly string[] | undefined;
  readonly suspended: boolean | undefined;
  readonly retentionDays: RetentionDays | undefined;
  /** No quota if both are undefined. */
  readonly quota: Quota | undefined;
  /** Empty: none. */
  readonly archiveAddress: EmailAddress | '' | undefined;
  /** Null: the installation's default. */
  readonly attachmentLimit: number | null | undefined;
  readonly policy: AccessPolicy | undefined;
  /** The sections that the file has. Nothing is removed from others. */
  readonly sections: ReadonlySet<ManifestSection>;
  readonly users: readonly ManifestUser[];
  readonly senders: readonly ManifestSender[];
  readonly integrations: readonly ManifestIntegration[];
  readonly templates: readonly ManifestTemplate[];
  readonly lists: readonly ManifestList[];
}

export const manifestSections = ['users', 'senders', 'integrations', 'templates', 'lists'] as const;

export type ManifestSection = (typeof manifestSections)[number];

export interface ManifestUser {
  readonly path: ManifestPath;
  /** In lower case, like all addresses in a manifest. */
  readonly email: ComparableAddress;
  readonly name: string | undefined;
  readonly password: string | undefined;
  readonly role: Role;
  readonly operator: boolean | undefined;
}

export interface ManifestSender {
  readonly path: ManifestPath;
  readonly address: ComparableAddress;
  readonly displayNames: readonly string[] | undefined;
  readonly verified: boolean | undefined;
}

export interface ManifestIntegration {
  readonly path: ManifestPath;
  readonly clientId: ClientId;
  readonly clientSecret: string | undefined;
  readonly name: string;
  readonly redirectUri: string | undefined;
  readonly grants: readonly GrantType[] | undefined;
}

export type SourceFiles = Readonly<Partial<Record<'html' | 'mjml' | 'text', string>>>;

export interface ManifestTemplate {
  readonly path: ManifestPath;
  readonly id: TemplateId;
  readonly name: string;
  readonly createdBy: ComparableAddress;
  readonly sender: ComparableAddress | undefined;
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
  readonly folderName: string | undefined;
  readonly description: string | undefined;
  readonly contacts: ManifestContacts | undefined;
}

export interface ManifestContacts {
  readonly rows: readonly ManifestContact[];
  /** Hash of the rows, independent of their order. */
  readonly contentHash: Buffer;
}

export interface ManifestContact {
  readonly email: ComparableAddress;
  /** The other columns by name. */
  readonly fields: Readonly<Record<string, string>>;
}
