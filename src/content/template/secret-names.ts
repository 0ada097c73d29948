import type { CompiledField, CompiledTemplate } from './compiled-template.ts';

/** The content of a version in which the fields with these names are secret too, as if it declared them so. */
export function withSecretNames<Content extends CompiledTemplate>(
  compiled: Content,
  names: readonly string[],
): Content {
  const kept = new Set(names);
  const newlySecret = compiled.fields.filter((field) => !field.secret && showsSecret(field, kept));
  const fields = compiled.fields.map((field) =>
    newlySecret.includes(field) ? { ...field, secret: true } : field,
  );
  const secret = new Set([...names, ...fields.filter((field) => field.secret).map((f) => f.name)]);
  // Which links the section of a list contains isn't known here, so none with fields is tracked.
  const hidesAll = newlySecret.some(({ kind }) => kind !== undefined);
  const links = compiled.links.map((link) =>
    link.fields.length > 0 && (hidesAll || link.fields.some((name) => secret.has(name)))
      ? { ...link, secret: true, trackable: false }
      : link,
  );
  return { ...compiled, fields, links, secretNames: [...secret] };
}

/** Whether a field is one of these, or a list or object that shows a value of one of these from outside. */
export function showsSecret(field: CompiledField, names: ReadonlySet<string>): boolean {
  return names.has(field.name) || (field.fields ?? []).some((inner) => isOutside(inner, names));
}

function isOutside(field: CompiledField, names: ReadonlySet<string>): boolean {
  if (field.outside === true && names.has(field.name)) return true;
  return (field.fields ?? []).some((inner) => isOutside(inner, names));
}

/** Names of the values of a version that are secret, whether its content uses them or not. */
export function secretNamesOf({ secretNames, fields }: CompiledTemplate): readonly string[] {
  return secretNames ?? fields.filter(({ secret }) => secret).map(({ name }) => name);
}

/** Whether a message with these values has something secret: a field of the template, or a value that it doesn't use. */
export function hasSecrets(compiled: CompiledTemplate, values: object): boolean {
  return (
    compiled.fields.some(({ secret }) => secret) ||
    secretNamesOf(compiled).some((name) => Object.hasOwn(values, name))
  );
}
