import type { FieldSettings } from './template-source.ts';

/** How many days a guarded link works if the field doesn't say. */
const defaultGuardDays = 7;
export const maxGuardDays = 90;

/** Characters of a target as browsers send it; many mail programs truncate a link that is longer than the one made of it. */
export const maxTargetLength = 1_500;

/** What a guarded value must be, for error messages. */
export const targetReason = `must be an http or https URL without a user name or password, of at most ${maxTargetLength} characters`;

/** How many days the links of a field work; undefined if it isn't guarded. */
export function guardDaysOf({ guard = false }: FieldSettings): number | undefined {
  if (typeof guard === 'object') return guard.days ?? defaultGuardDays;
  return guard ? defaultGuardDays : undefined;
}

/** Whether values are masked: whoever has a guarded link can use it. */
export function isSecretField(settings: FieldSettings): boolean {
  return settings.secret === true || guardDaysOf(settings) !== undefined;
}

/** The same settings, with guarded fields declared secret. */
export function withImpliedSecrets(
  fields: Readonly<Record<string, FieldSettings>>,
): Readonly<Record<string, FieldSettings>> {
  const implied = (field: FieldSettings): FieldSettings =>
    isSecretField(field) ? { ...field, secret: true } : field;
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, implied(field)]));
}

/** The days of all guarded fields by name; undefined: there are none. */
export function guardsOf(
  fields: Readonly<Record<string, FieldSettings>>,
): Readonly<Record<string, number>> | undefined {
  const guards = Object.entries(fields).flatMap(([name, field]): [string, number][] => {
    const days = guardDaysOf(field);
    return days === undefined ? [] : [[name, days]];
  });
  return guards.length === 0 ? undefined : Object.fromEntries(guards);
}

/** Whether a value can be guarded; an empty one means that there is no link. */
export function isGuardable(value: unknown): boolean {
  if (value === '') return true;
  if (typeof value !== 'string' || !/^https?:\/\//i.test(value) || !URL.canParse(value))
    return false;
  const { username, password } = new URL(value);
  return username === '' && password === '' && asciiTarget(value).length <= maxTargetLength;
}

/** A target for a header: unchanged, or as browsers write what isn't ASCII (WHATWG URL section 4.5). */
export function asciiTarget(value: string): string {
  return /^[!-~]*$/.test(value) ? value : new URL(value).href;
}
