/** The region whose dates and numbers are used; American English unless the person chose another. */
let chosen = 'en-US';

/** Uses what the person chose from now on; called before anything is formatted for them. */
export function chooseFormats(locale: string): void {
  chosen = locale;
}

/** A formatter that is created once for each region in use. */
export function formatterOf<Formatter>(create: (locale: string) => Formatter): () => Formatter {
  let locale: string | undefined;
  let formatter: Formatter | undefined;
  return () => {
    if (formatter === undefined || locale !== chosen) {
      locale = chosen;
      formatter = create(chosen);
    }
    return formatter;
  };
}
