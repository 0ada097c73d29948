import { formatNumber } from '../format/format-number.ts';
import type { auditTexts } from './en/audit.en.ts';
import type { destinationsTexts } from './en/destinations.en.ts';
import type { domainsTexts } from './en/domains.en.ts';
import type { editorTexts } from './en/editor.en.ts';
import type { inboxTexts } from './en/inbox.en.ts';
import type { integrationsTexts } from './en/integrations.en.ts';
import type { outboxesTexts } from './en/outboxes.en.ts';
import type { processesTexts } from './en/processes.en.ts';
import type { repliesTexts } from './en/replies.en.ts';
import type { requestTexts } from './en/requests.en.ts';
import type { settingsTexts } from './en/settings.en.ts';
import type { smtpTexts } from './en/smtp.en.ts';
import type { webhooksTexts } from './en/webhooks.en.ts';
import { en } from './en.ts';

/** Texts that only some pages load, with `addTexts`. */
type PageTexts = typeof auditTexts &
  typeof destinationsTexts &
  typeof domainsTexts &
  typeof editorTexts &
  typeof inboxTexts &
  typeof integrationsTexts &
  typeof outboxesTexts &
  typeof processesTexts &
  typeof repliesTexts &
  typeof requestTexts &
  typeof settingsTexts &
  typeof smtpTexts &
  typeof webhooksTexts;

/** A key of the catalog. */
export type TextKey = keyof typeof en | keyof PageTexts;

type TextValues = Readonly<Record<string, string | number>>;

/** The texts of a language, with the same keys as in English. */
type Catalog = Readonly<Record<keyof typeof en, string>>;

const catalogs: Readonly<Record<string, Catalog>> = { en };

/** The first of the user's preferred languages that has a catalog; English by default. */
function chooseLanguage(preferred: readonly string[]): string {
  for (const tag of preferred) {
    const language = tag.split('-')[0] ?? '';
    if (Object.hasOwn(catalogs, language)) return language;
  }
  return 'en';
}

export const language = chooseLanguage(navigator.languages);

const catalog: Partial<Record<TextKey, string>> = { ...(catalogs[language] ?? en) };

/** Adds texts that aren't part of the first view, by language. */
export function addTexts(
  texts: Readonly<{ en: Partial<Record<TextKey, string>> }> &
    Readonly<Record<string, Partial<Record<TextKey, string>>>>,
): void {
  Object.assign(catalog, texts[language] ?? texts.en);
}

const plurals = new Intl.PluralRules(language);

/**
 * A text of the catalog with its values filled in. `{name}` is a value; `{count|one message|# messages}` chooses the
 * plural form for the number, and `#` is the number.
 */
export function text(key: TextKey, values: TextValues = {}): string {
  return fill(catalog[key] ?? key, values);
}

/** For keys built from data, such as a state; returns `fallback` if the catalog has no such key. */
export function textOr(key: string, fallback: string): string {
  return Object.hasOwn(catalog, key) ? (catalog[key as TextKey] ?? fallback) : fallback;
}

function fill(pattern: string, values: TextValues): string {
  return pattern.replaceAll(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (whole, name, one, other) => {
    const value = values[name];
    if (value === undefined) return whole;
    if (one === undefined) return String(value);
    const number = Number(value);
    const form: string = plurals.select(number) === 'one' ? one : other;
    return form.replace('#', formatNumber(number));
  });
}
