import type {
  CompiledTemplate,
  RequiredItemField,
} from '../../../content/template/compiled-template.ts';
import type { FieldKind } from '../../../content/template/field-value.ts';
import type { TemplateUsage } from '../../../outcomes/report/template-usage-store.ts';

/** Recent usage that a version would reject. */
interface BrokenUsage {
  /** Required fields the caller doesn't supply; those of items as `Items[].Price`. */
  readonly missing: readonly string[];
  /** Fields that the caller supplies as something else than they are declared. */
  readonly mismatched: readonly string[];
  readonly lastAt: Date;
  readonly lastMessageId: string;
}

type Contract = Pick<CompiledTemplate, 'required' | 'uses' | 'fields'>;

/**
 * Recent usage that a version would refuse: with a Personalization Failure (section 4.3 rule 3), or as its values aren't
 * of the declared kind. Requests that override the subject or preview text don't need the fields of the template's own.
 */
export function findBrokenUsage(
  contract: Contract,
  calls: readonly TemplateUsage[],
): BrokenUsage[] {
  const kindOf = kindsDeclaredBy(contract);
  return calls.flatMap((call) => {
    const given = new Set(call.fields);
    const missing = [
      ...missingNames(contract, call, given),
      ...missingInItems(contract, call, given),
    ];
    const mismatched = findMismatched(kindOf, given);
    const { lastAt, lastMessageId } = call;
    return missing.length + mismatched.length === 0
      ? []
      : [{ missing, mismatched, lastAt, lastMessageId }];
  });
}

function missingNames(
  { required }: Contract,
  call: TemplateUsage,
  given: ReadonlySet<string>,
): string[] {
  const needed = new Set([
    ...required.body,
    ...(call.ownSubject ? [] : required.subject),
    ...(call.ownPreview ? [] : required.previewText),
  ]);
  return [...needed].filter((name) => !given.has(name));
}

function missingInItems(
  { uses, fields }: Contract,
  call: TemplateUsage,
  given: ReadonlySet<string>,
): string[] {
  const needed = [
    ...(uses?.body.required ?? []),
    ...(call.ownSubject ? [] : (uses?.subject.required ?? [])),
    ...(call.ownPreview ? [] : (uses?.previewText.required ?? [])),
  ];
  const missing = needed.flatMap((use) => {
    const place = placeOf(use.path, fields);
    const isGiven =
      given.has(`${place}.${use.name}`) || (use.outside && isOutside(use, fields, given));
    // Without items nothing is missing in them.
    return given.has(place) && !isGiven ? [`${place}.${use.name}`] : [];
  });
  return [...new Set(missing)];
}

/** `Items[]` for the fields of a list's items, `Shop{}` for those of an object. */
function placeOf(path: readonly string[], fields: Contract['fields']): string {
  let place = '';
  let level: Contract['fields'] = fields;
  for (const name of path) {
    const field = level.find((one) => one.name === name);
    place += `${place === '' ? '' : '.'}${name}${field?.kind === 'object' ? '{}' : '[]'}`;
    level = field?.fields ?? [];
  }
  return place;
}

/** True if the request itself or an enclosing item has the name. */
function isOutside(
  { path, name }: RequiredItemField,
  fields: Contract['fields'],
  given: ReadonlySet<string>,
): boolean {
  return path.some((_, depth) => {
    const around = placeOf(path.slice(0, depth), fields);
    return given.has(around === '' ? name : `${around}.${name}`);
  });
}

function findMismatched(kindOf: (name: string) => FieldKind, given: ReadonlySet<string>): string[] {
  const names = [...given].filter((name) => !/(?:\[0?\]|\{0?\})$/.test(name));
  return names.filter((name) => kindGiven(name, given) !== kindOf(name));
}

/** What names are declared to be, by place; values that no template knows must be texts, too. */
function kindsDeclaredBy(contract: Contract): (name: string) => FieldKind {
  const kinds = new Map<string, FieldKind>();
  const declare = (fields: Contract['fields'], place: string): void => {
    for (const { name, kind = 'text', fields: inner } of fields) {
      kinds.set(place + name, kind);
      declare(inner ?? [], `${place}${name}${kind === 'object' ? '{}' : '[]'}.`);
    }
  };
  declare(contract.fields, '');
  return (name) => kinds.get(name) ?? 'text';
}

function kindGiven(name: string, given: ReadonlySet<string>): FieldKind {
  if (given.has(`${name}[]`) || given.has(`${name}[0]`)) return 'list';
  return given.has(`${name}{}`) || given.has(`${name}{0}`) ? 'object' : 'text';
}
