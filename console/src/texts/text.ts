import { en } from './en.ts';

/** The name of a text in the catalogue. */
export type TextKey = keyof typeof en;

type TextValues = Readonly<Record<string, string | number>>;

/** A language: every text of the English catalogue. */
type Catalogue = Readonly<Record<TextKey, string>>;

const catalogues: Readonly<Record<string, Catalogue>> = { en };

/** The first of the person's languages that there is a catalogue for. */
function chooseLanguage(wanted: readonly string[]): string {
  for (const tag of wanted) {
    const language = tag.split('-')[0] ?? '';
    if (Object.hasOwn(catalogues, language)) return language;
  }
  return 'en';
}

export const language = chooseLanguage(navigator.languages);

const catalogue: Catalogue = catalogues[language] ?? en;

const plurals = new Intl.PluralRules(language);

/**
 * A text of the catalogue with its values filled in. `{name}` is a value; `{count|one message|# messages}` chooses by
 * the number's plural form in the language, `#` being the number.
 */
export function text(key: TextKey, values: TextValues = {}): string {
  return fill(catalogue[key], values);
}

/** Only for keys that are made from data, such as the name of a state; the key itself where there is no text. */
export function textOr(key: string, otherwise: string): string {
  return Object.hasOwn(catalogue, key) ? catalogue[key as TextKey] : otherwise;
}

function fill(pattern: string, values: TextValues): string {
  return pattern.replaceAll(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (whole, name, one, other) => {
    const value = values[name];
    if (value === undefined) return whole;
    if (one === undefined) return String(value);
    const number = Number(value);
    const form: string = plurals.select(number) === 'one' ? one : other;
    return form.replace('#', number.toLocaleString());
  });
}
