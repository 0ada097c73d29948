import type { Static, TSchema } from 'typebox';
import type { Tables } from '../../base/database/open-database.ts';
import { Nullable, optional, Text, Whole } from '../../base/values/common-schemas.ts';
import { type EmailAddress, parseEmailAddress } from '../../base/values/email-address.ts';

/** Max bytes of a message with attachments as sent, whatever an installation or an account allows. */
export const maxAttachmentLimit = 25 * 1024 * 1024;

/**
 * The settings of an account that are a column each. Another one is added to this file and by a migration: the store, the manifest
 * with its schema, plan and export, the API with its audit log, and the command line take it from here.
 */
export interface AccountSettings {
  /** Gets a blind copy of the account's mail, except of templates with secret fields. */
  readonly archiveAddress?: EmailAddress | undefined;
  /** Max bytes of a message with attachments as sent; 0: none, undefined: the installation's default. */
  readonly attachmentLimit?: number | undefined;
}

type Name = keyof AccountSettings;

interface AccountSetting<Given extends TSchema, Shown extends TSchema> {
  /** Null without a value. */
  readonly column: keyof Tables['account'];
  /** As manifests and requests give it, which can leave it out: it stays unchanged. */
  readonly given: Given;
  /** As answers show it. */
  readonly shown: Shown;
  /** Says in both that there is no value. */
  readonly none: Static<Given> & Static<Shown>;
}

const setting = <Given extends TSchema, Shown extends TSchema>(
  defined: AccountSetting<Given, Shown>,
) => defined;

const archiveAddress =
  'Gets a blind copy of every message, except of templates with secret fields. Empty: none.';

const table = {
  archiveAddress: setting({
    column: 'archive_address',
    given: Text(archiveAddress, { maxLength: 320 }),
    shown: Text(archiveAddress),
    none: '',
  }),
  attachmentLimit: setting({
    column: 'attachment_limit',
    given: Nullable(
      Whole(
        'Max bytes of a message with attachments as sent, up to 26214400 (25 MiB); 0: no attachments. Null: `ATTACHMENT_LIMIT`.',
        { minimum: 0, maximum: maxAttachmentLimit },
      ),
    ),
    shown: Nullable(
      Whole(
        'Max bytes of a message with attachments as sent; 0: no attachments. Null: the installation’s default.',
      ),
    ),
    none: null,
  }),
} satisfies Record<Name, unknown>;

/** @param refuse gets the name of a setting that can’t be taken, and the reason, phrased to follow the name */
export function parseSettings(
  given: { readonly [Each in Name]?: Static<(typeof table)[Each]['given']> | undefined },
  refuse: (name: Name, reason: string) => void,
): AccountSettings {
  return {
    ...(given.archiveAddress !== undefined && {
      archiveAddress: parseOptionalAddress(given.archiveAddress, (reason) =>
        refuse('archiveAddress', reason),
      ),
    }),
    ...(given.attachmentLimit !== undefined && {
      attachmentLimit: given.attachmentLimit ?? undefined,
    }),
  };
}

/** Keeps the case of the local part, which the receiving server may distinguish. Undefined for an empty text. */
export function parseOptionalAddress(
  text: string,
  refuse: (reason: string) => void,
): EmailAddress | undefined {
  if (text === '') return undefined;
  const parsed = parseEmailAddress(text);
  if (parsed.ok) return parsed.address;
  refuse(`is not a valid email address: it ${parsed.reason}`);
  return undefined;
}

export const settingNames = Object.keys(table) as Name[];

export const columnOf = (name: Name) => table[name].column;

type Members<Member extends 'given' | 'shown'> = {
  [Each in Name]: (typeof table)[Each][Member];
};

const pairs = (names: readonly Name[], read: (name: Name) => unknown): unknown[][] =>
  names.map((name) => [name, read(name)]);

/** The schemas of all settings. */
export const givenSettings = optional<Members<'given'>>(
  Object.fromEntries(pairs(settingNames, (name) => table[name].given)),
);
export const shownSettings: Members<'shown'> = Object.fromEntries(
  pairs(settingNames, (name) => table[name].shown),
);

/** As answers show them. */
export function showSettings(settings: AccountSettings): {
  readonly [Each in Name]: Static<(typeof table)[Each]['shown']>;
} {
  return Object.fromEntries(pairs(settingNames, (name) => settings[name] ?? table[name].none));
}

/** Those of an account that have a value. */
export function pickSettings(account: AccountSettings): AccountSettings {
  const given = settingNames.filter((name) => account[name] !== undefined);
  return Object.fromEntries(pairs(given, (name) => account[name]));
}
