import { type GivenValues, textOfValue } from '../template/field-value.ts';
import { htmlText } from '../template/html-text.ts';
import { rememberEach } from '../template/value-scope.ts';
import type { LoadedTemplate } from './load-template.ts';

/** Schemes allowed in a value that is a whole URL. */
const WHOLE_URL = /^(?:https?:\/\/|mailto:)/i;
const SPACE_OR_CONTROL = /[\s\p{Cc}]/gu;
/** Letters, digits and the symbols of colors, sizes and names; nothing that could start another declaration. */
const STYLE_VALUE = /^[\p{L}\p{M}\p{N} #%+,._-]*$/u;

/**
 * Checks each value of a message once and caches the result. A rejected value adds nothing to the message, so the
 * size limit would not stop a template from checking it a thousand times.
 */
export class CheckedValues {
  /** The value as the start of a URL; undefined if it can't be one. */
  readonly wholeUrl = rememberEach(toWholeUrl);
  /** True if the value is safe in a style. */
  readonly fitsStyle = rememberEach((value) => STYLE_VALUE.test(value));
  /** The value as a part of a telephone number. */
  readonly numberOf = rememberEach(toNumber);
  /** The value's HTML as text. */
  readonly textOf = rememberEach(htmlText);
}

/** RFC 3966 section 3: a number with its separators, except spaces. */
function toNumber(value: string): string {
  return encodeURIComponent(value.replace(/\s/g, '')).replaceAll('%2B', '+');
}

function toWholeUrl(value: string): string | undefined {
  const url = value.trim();
  if (!WHOLE_URL.test(url) || !URL.canParse(url)) return undefined;
  return url.replace(SPACE_OR_CONTROL, encodeURIComponent);
}

/**
 * The texts of a message's values in the order of the template's fields, with defaults filled in and normalized for a
 * body.
 */
export function fieldValues({ names, defaults }: LoadedTemplate, given: GivenValues): string[] {
  return names.map((name, index) =>
    // Own properties only: `constructor` is an ordinary field name.
    textOfValue(Object.hasOwn(given, name) ? given[name] : defaults[index]),
  );
}
