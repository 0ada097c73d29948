/** A locale with the name of its language, such as `German (de)`; as it is where it has no name. */
export function nameLocale(locale: string | undefined): string {
  if (locale === undefined) return '';
  try {
    const name = new Intl.DisplayNames('en', { type: 'language' }).of(locale);
    return name === undefined || name === locale ? locale : `${name} (${locale})`;
  } catch {
    return locale;
  }
}
