/** The languages of what people see who received a message. */
export type ReaderLanguage = 'en' | 'de' | 'fr' | 'es';

/**
 * The first language that has texts, otherwise English.
 * @param preferences in the form of Accept-Language (RFC 9110 section 12.5.4), whose order counts
 */
export function pickReaderLanguage(preferences: string): ReaderLanguage {
  const found = /(?:^|,) ?(en|de|fr|es)(?![a-z])/.exec(preferences.toLowerCase())?.[1];
  return (found as ReaderLanguage | undefined) ?? 'en';
}
