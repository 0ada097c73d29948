import { formatNumber } from '../format/format-number.ts';
import { en } from './en.ts';

/** A key of the catalog. */
export type TextKey = keyof typeof en;

type TextValues = Readonly<Record<string, string | number>>;

/** The texts of a language, with the same keys as in English. */
type Catalog = Readonly<Record<TextKey, string>>;

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

const catalog: Catalog = catalogs[language] ?? en;

const plurals = new Intl.PluralRules(language);

/**
 * A text of the catalog with its values filled in. `{name}` is a value; `{count|one message|# messages}` chooses the
 * plural form for the number, and `#` is the number.
 */
export function text(key: TextKey, values: TextValues = {}): string {
  return fill(catalog[key], values);
}

/** For keys built from data, such as a state; returns `fallback` if the catalog has no such key. */
export function textOr(key: string, fallback: string): string {
  return Object.hasOwn(catalog, key) ? catalog[key as TextKey] : fallback;
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
