/** HTML that goes into a page as it is. `html` escapes what it puts in; the constructor trusts its text to be HTML. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** What a template can contain. Nothing stands for undefined, and the members of a list for the list. */
export type HtmlValue = Html | string | number | undefined | readonly HtmlValue[];

/** Tag of a template: escapes every value but `Html`, for elements and for attributes in quotes. */
export function html(texts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(texts.reduce((before, text, index) => before + toText(values[index - 1]) + text));
}

function toText(value: HtmlValue): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.toString();
  if (Array.isArray(value)) return value.map(toText).join('');
  return String(value).replaceAll(/["&'<=>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
