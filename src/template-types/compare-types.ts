import { type FieldShape, inOrder, type TemplateShape } from './template-shape.ts';

/** What changed from the committed types to the published templates, one line each; empty if nothing did. */
export function compareTypes(
  before: readonly TemplateShape[],
  after: readonly TemplateShape[],
): string[] {
  return paired(before, after, ({ id }) => id).flatMap(([id, old, now]) => {
    const name = show(id);
    if (old === undefined) return [`${name} was added`];
    if (now === undefined) return [`${name} was removed`];
    return [
      ...compareFields(old.fields, now.fields, ''),
      ...compareLocales(old.locales ?? [], now.locales ?? []),
    ].map((change) => `${name}: ${change}`);
  });
}

function compareFields(
  before: readonly FieldShape[],
  after: readonly FieldShape[],
  prefix: string,
): string[] {
  return paired(before, after, ({ name }) => name).flatMap(([name, old, now]) => {
    const path = `${prefix}${show(name)}`;
    if (old === undefined)
      return [`field ${path} was added and is ${now?.required ? 'required' : 'optional'}`];
    if (now === undefined) return [`field ${path} was removed`];
    if (old.kind !== now.kind) return [`field ${path} is now ${now.kind}, not ${old.kind}`];
    const need =
      old.required === now.required
        ? []
        : [`field ${path} is now ${now.required ? 'required' : 'optional'}`];
    const inner = now.kind === 'list' ? `${path}[].` : `${path}.`;
    return [...need, ...compareFields(old.fields ?? [], now.fields ?? [], inner)];
  });
}

function compareLocales(before: readonly string[], after: readonly string[]): string[] {
  return paired(before, after, (locale) => locale).flatMap(([locale, old, now]) => {
    if (old === undefined) return [`language ${show(locale)} was added`];
    return now === undefined ? [`language ${show(locale)} was removed`] : [];
  });
}

function paired<Item>(
  before: readonly Item[],
  after: readonly Item[],
  nameOf: (item: Item) => string,
): [string, Item | undefined, Item | undefined][] {
  const old = new Map(before.map((item) => [nameOf(item), item]));
  const now = new Map(after.map((item) => [nameOf(item), item]));
  const names = inOrder([...new Set([...old.keys(), ...now.keys()])], (name) => name);
  return names.map((name) => [name, old.get(name), now.get(name)]);
}

/** Unusual names are quoted, so that they can't look like other output. */
function show(name: string): string {
  return /^[\p{L}\p{N}_$-][\p{L}\p{N}_$ .-]*$/u.test(name) ? name : JSON.stringify(name);
}
