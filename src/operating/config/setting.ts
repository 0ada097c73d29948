import { parseDuration } from '../../base/values/duration.ts';
import { OperatorError } from '../../base/values/errors.ts';

/** Parses the text of a setting. @throws OperatorError if it is invalid; it names the setting and says what to write */
export type SettingType<Value> = (name: string, text: string) => Value;

/** What one environment variable is for. */
interface Description {
  /** The text that counts if the setting isn't set; without it, the value is undefined then. */
  readonly default?: string;
  /** How the documentation writes the default; otherwise as it is, or as `(none)`. */
  readonly shown?: string;
  /** Can also be read from the file named by `NAME_FILE`. */
  readonly secret?: true;
  /** Without one, the documentation has the setting in the row of the setting before it. */
  readonly meaning?: string;
}

export interface Setting<Value> extends Description {
  /** @throws OperatorError if the text is invalid */
  read(name: string, text: string | undefined): Value;
}

/** Defines a setting by its type and its description. */
export function setting<Value>(
  type: SettingType<Value>,
  description: Description & { readonly default: string },
): Setting<Value>;
export function setting<Value>(
  type: SettingType<Value>,
  description?: Description,
): Setting<Value | undefined>;
export function setting<Value>(
  type: SettingType<Value>,
  description: Description = {},
): Setting<Value | undefined> {
  return {
    ...description,
    read: (name, text = description.default) => (text === undefined ? text : type(name, text)),
  };
}

/** Any text. */
export const anyText: SettingType<string> = (_name, given) => given;

/** `1` or `0`. */
export const onOff: SettingType<boolean> = (name, given) => {
  if (given === '1' || given === 'true') return true;
  if (given === '0' || given === 'false') return false;
  throw new OperatorError(`${name} must be 1 or 0, not "${given}".`);
};

/** A whole number. @param what what it counts, as in “a number of days” */
export function number(what: string, min: number, max: number): SettingType<number> {
  return (name, given) => {
    const value = Number(given);
    if (/^\d{1,7}$/.test(given) && value >= min && value <= max) return value;
    throw new OperatorError(`${name} must be ${what} from ${min} to ${max}, not "${given}".`);
  };
}

/** A port; 0 means any free port. */
export const port = number('a number', 0, 65_535);

/** A positive number. */
export const count = number('a whole number', 1, 9_999_999);

/** A time up to a day: `30s`, `5m`, `1h`. */
export const duration: SettingType<number> = (name, given) => {
  const seconds = parseDuration(given);
  if (seconds !== undefined && seconds <= 86_400) return seconds;
  throw new OperatorError(
    `${name} must be a time such as 30s, 5m or 1h, up to 24h, not "${given}".`,
  );
};

/** One of several words. */
export function choice<const Choice extends string>(...choices: Choice[]): SettingType<Choice> {
  return (name, given) => {
    const found = choices.find((known) => known === given);
    if (found !== undefined) return found;
    throw new OperatorError(`${name} must be one of ${choices.join(', ')}, not "${given}".`);
  };
}

/** Comma-separated values. */
export function list<Value>(type: SettingType<Value>): SettingType<readonly Value[]> {
  return (name, given) =>
    given
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map((part) => type(name, part));
}
