import { builtInFields } from './built-in-fields.ts';
import type {
  CompiledField,
  CompiledFieldNode,
  CompiledLink,
  CompiledNode,
  CompiledSection,
  CompiledUrl,
  FieldPart,
  FieldUses,
  FormattedField,
  RequiredItemField,
} from './compiled-template.ts';
import { describeReadable, isReadable, writeHelper } from './field-format.ts';
import type { FieldKind, FieldValue } from './field-value.ts';
import { guardDaysOf } from './guarded-field.ts';
import { MAX_LIST_TAGS } from './template-limits.ts';
import type { FieldSettings, ItemFieldSettings } from './template-source.ts';

/** Reports a problem of a tag. @param at offset of the tag in its source */
export type ReportTag = (at: number | undefined, rule: string, message: string) => void;

/** A field as the template or its settings know it. */
interface KnownField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly default: FieldValue | undefined;
  readonly sample: FieldValue | undefined;
  readonly secret: boolean;
  readonly guarded: boolean;
  /** In the settings; otherwise only its uses say that it exists. */
  readonly declared: boolean;
  readonly fields: KnownFields;
  readonly parts: Set<FieldPart>;
}

type KnownFields = Map<string, KnownField>;

/** Where a tag stands: outside of all lists, or inside the section of one. */
interface FieldScope {
  readonly path: readonly string[];
  readonly fields: KnownFields;
  readonly outer: FieldScope | undefined;
  readonly secret: boolean;
  /** Inside the section of a list. */
  readonly repeated: boolean;
}

interface FoundField {
  readonly field: KnownField;
  readonly scope: FieldScope;
}

/** Whether nodes are a whole URL or a part of one; undefined: neither. */
type InUrl = 'whole' | 'part' | undefined;

/** A part while its names are resolved. */
interface PartContext {
  /** Undefined: an override, which adds no uses to the template's fields. */
  readonly part: FieldPart | undefined;
  readonly report: ReportTag;
  readonly uses: UseCollector;
  readonly links: CompiledLink[];
  /** Tags that are shown for each item of a list. */
  repeatedTags: number;
}

/**
 * Finds out which field each tag means. Inside the section of a list or object a name is a field of its items, unless
 * only the outside knows it: declared there, or used there too. All parts are explored before the first is resolved.
 */
export class FieldResolver {
  readonly #top: FieldScope;
  /** Names in items that may be known outside, which only all parts together tell. */
  readonly #undecided: { readonly name: string; readonly scope: FieldScope }[] = [];
  readonly #used = new Set<KnownField>();

  private constructor(fields: KnownFields) {
    this.#top = { path: [], fields, outer: undefined, secret: false, repeated: false };
  }

  /** @param known more names of fields that are no fields of items */
  static forSettings(
    settings: Readonly<Record<string, FieldSettings>>,
    known: readonly string[] = [],
  ): FieldResolver {
    const resolver = new FieldResolver(fromSettings(settings));
    for (const name of known) addInferred(resolver.#top, name);
    return resolver;
  }

  /** For parts that a request brings. */
  static forVersion(fields: readonly CompiledField[]): FieldResolver {
    return new FieldResolver(fromCompiled(fields));
  }

  explore(nodes: readonly CompiledNode[]): void {
    this.#explore(nodes, this.#top);
  }

  /** Decides what the names in items are, once all parts were explored. */
  settle(): void {
    const byDepth = this.#undecided.sort((a, b) => a.scope.path.length - b.scope.path.length);
    for (const { name, scope } of byDepth) {
      if (builtInFields.has(name)) addInferred(this.#top, name);
      else if (find(name, scope) === undefined) addInferred(scope, name);
    }
  }

  /** The part's nodes with what rendering needs to know. @param links of the part; those with secrets are replaced */
  resolve(
    nodes: readonly CompiledNode[],
    part: FieldPart | undefined,
    report: ReportTag,
    uses: UseCollector,
    links: CompiledLink[] = [],
  ): CompiledNode[] {
    const context: PartContext = { part, report, uses, links, repeatedTags: 0 };
    const resolved = this.#nodes(nodes, this.#top, context);
    if (context.repeatedTags > MAX_LIST_TAGS) {
      const message = `has more than ${MAX_LIST_TAGS} tags in the sections of lists`;
      report(undefined, 'too-many-list-tags', message);
    }
    return resolved;
  }

  /** The fields in use, in order of first use, then lists and objects that are only declared. */
  compiledFields(): CompiledField[] {
    const declared = [...this.#top.fields.values()].filter(({ kind }) => kind !== 'text');
    return [...new Set([...this.#usedOutside(), ...declared])].map((field) =>
      toCompiled(field, true),
    );
  }

  /** Names of the fields in use that are no fields of items. */
  usedNames(): string[] {
    return this.#usedOutside().map(({ name }) => name);
  }

  #usedOutside(): KnownField[] {
    return [...this.#used].filter((field) => this.#top.fields.get(field.name) === field);
  }

  /** Declared fields that nothing uses, as paths. */
  unusedNames(): string[] {
    const unused: string[] = [];
    const visit = (fields: KnownFields, prefix: string): void => {
      for (const field of fields.values()) {
        const path = `${prefix}${field.name}`;
        if (!this.#used.has(field)) unused.push(path);
        else visit(field.fields, `${path}.`);
      }
    };
    visit(this.#top.fields, '');
    return unused;
  }

  #explore(nodes: readonly CompiledNode[], scope: FieldScope): void {
    for (const node of nodes) {
      if (typeof node === 'string' || node.type === 'slot') continue;
      if (node.type === 'url' || node.type === 'each') this.#explore(node.nodes, scope);
      else if (node.type === 'field') this.#note(node.name, scope);
      else {
        const own = scope.fields.get(node.name);
        const structured = own !== undefined && own.kind !== 'text';
        if (!structured) this.#note(node.name, scope);
        const enters = structured && node.shown === 'filled' && node.once !== true;
        this.#explore(node.nodes, enters ? enter(scope, own) : scope);
      }
    }
  }

  #note(name: string, scope: FieldScope): void {
    if (scope.outer === undefined) addInferred(scope, name);
    else if (!scope.fields.has(name)) this.#undecided.push({ name, scope });
  }

  #nodes(
    nodes: readonly CompiledNode[],
    scope: FieldScope,
    context: PartContext,
    inUrl?: InUrl,
  ): CompiledNode[] {
    return nodes.map((node): CompiledNode => {
      if (typeof node === 'string' || node.type === 'slot' || node.type === 'each') return node;
      if (node.type === 'field') return this.#field(node, scope, context, inUrl);
      if (node.type === 'section') return this.#section(node, scope, context, inUrl);
      if (scope.secret) hideLink(node, context.links);
      const place = node.nodes.length === 1 ? 'whole' : 'part';
      return { ...node, nodes: this.#nodes(node.nodes, scope, context, place) };
    });
  }

  #field(
    node: CompiledFieldNode,
    scope: FieldScope,
    context: PartContext,
    inUrl: InUrl,
  ): CompiledNode {
    const { name, as, format, at } = node;
    const found = this.#use(name, scope, context);
    if (found?.field.kind === 'list' || found?.field.kind === 'object') {
      const { kind } = found.field;
      context.report(
        at,
        'list-as-text',
        `{{${name}}} is ${article(kind)}; show its fields in a section, {{#${name}}}…{{/${name}}}`,
      );
    }
    if (found?.field.guarded === true) {
      const problem = problemOfGuarded(scope, context.part, inUrl);
      if (problem !== undefined)
        context.report(at, 'guard-place', `{{${name}}} is guarded, so it ${problem}`);
    }
    if (format === undefined) return { type: 'field', name, as };
    if (inUrl !== undefined) {
      const message = `${writeHelper(format, name)} can’t be used in a URL, which needs the plain value`;
      context.report(at, 'helper-place', message);
    }
    context.uses.addFormatted({ path: scope.path, name, format });
    for (const setting of ['default', 'sample'] as const) {
      const value = found?.field[setting];
      if (typeof value !== 'string' || isReadable(format, value)) continue;
      const message = `${writeHelper(format, name)} can’t read the field’s ${setting}, which must be ${describeReadable(format)}`;
      context.report(at, 'unreadable-value', message);
    }
    return { type: 'field', name, as, format };
  }

  #section(
    node: CompiledSection,
    scope: FieldScope,
    context: PartContext,
    inUrl: InUrl,
  ): CompiledNode {
    const { name, shown, at } = node;
    const found = this.#use(name, scope, context);
    const plain = (): CompiledNode => {
      const nodes = this.#nodes(node.nodes, scope, context, inUrl && 'part');
      return { type: 'section', name, shown, nodes };
    };
    if (found === undefined || found.field.kind === 'text') return plain();
    const refuse = (message: string): CompiledNode => {
      context.report(at, 'list-place', `{{${shown === 'filled' ? '#' : '^'}${name}}} ${message}`);
      return plain();
    };
    if (found.scope !== scope)
      return refuse(
        `can’t be inside the section of ${scope.path.at(-1)}, unless it is declared among the fields of ${scope.path.at(-1)}`,
      );
    if (inUrl !== undefined)
      return refuse(`is ${article(found.field.kind)}, which can’t be used in a URL`);
    if (shown === 'empty' || node.once === true) return plain();
    const inner = enter(scope, found.field);
    if (inner.repeated && !scope.repeated) context.repeatedTags += 1;
    const nodes = this.#nodes(node.nodes, inner, context);
    return { type: 'each', name, nodes };
  }

  /** Notes the use of a name; undefined for one that an override uses and no version knows. */
  #use(name: string, scope: FieldScope, context: PartContext): FoundField | undefined {
    const { part, uses } = context;
    if (scope.repeated) context.repeatedTags += 1;
    const found = builtInFields.has(name) ? find(name, this.#top) : find(name, scope);
    if (found === undefined) return undefined;
    const { field } = found;
    this.#used.add(field);
    if (part !== undefined) field.parts.add(part);
    const { path } = found.scope;
    if (path.length > 0 && field.default === undefined)
      uses.addRequired({ path, name, outside: !field.declared });
    return found;
  }
}

/** Collects uses, each once. */
export class UseCollector {
  readonly #required = new Map<string, RequiredItemField>();
  readonly #formatted = new Map<string, FormattedField>();

  addRequired(use: RequiredItemField): void {
    this.#required.set(JSON.stringify(use), use);
  }

  addFormatted(use: FormattedField): void {
    this.#formatted.set(JSON.stringify(use), use);
  }

  get isEmpty(): boolean {
    return this.#required.size === 0 && this.#formatted.size === 0;
  }

  finish(): FieldUses {
    return { required: [...this.#required.values()], formatted: [...this.#formatted.values()] };
  }
}

/** Resolves a subject line or preview text of a request by the fields of the version that it is for. */
export function resolveOverride(
  nodes: readonly CompiledNode[],
  fields: readonly CompiledField[],
):
  | {
      readonly nodes: readonly CompiledNode[];
      readonly fields: string[];
      readonly uses?: FieldUses;
    }
  | { readonly problem: string } {
  const resolver = FieldResolver.forVersion(fields);
  resolver.explore(nodes);
  resolver.settle();
  const uses = new UseCollector();
  let problem: string | undefined;
  const report: ReportTag = (_, __, message) => {
    problem ??= message;
  };
  const resolved = resolver.resolve(nodes, undefined, report, uses);
  if (problem !== undefined) return { problem };
  const names = resolver.usedNames();
  return { nodes: resolved, fields: names, ...(uses.isEmpty ? {} : { uses: uses.finish() }) };
}

function find(name: string, scope: FieldScope): FoundField | undefined {
  for (let at: FieldScope | undefined = scope; at !== undefined; at = at.outer) {
    const field = at.fields.get(name);
    if (field !== undefined) return { field, scope: at };
  }
  return undefined;
}

/** A guarded value becomes a whole link; a subject has none, and an item could bring a value of its own. */
function problemOfGuarded({ path }: FieldScope, part: PartContext['part'], inUrl: InUrl) {
  if (inUrl === 'part') return 'must be the whole URL of a link';
  if (part === 'subject' || part === 'previewText') return 'can’t be in a subject or preview text';
  return path.length === 0 ? undefined : `can’t be in the section of ${path.at(-1)}`;
}

function enter(scope: FieldScope, { name, kind, fields, secret }: KnownField): FieldScope {
  return {
    path: [...scope.path, name],
    fields,
    outer: scope,
    secret: scope.secret || secret,
    repeated: scope.repeated || kind === 'list',
  };
}

function addInferred({ fields }: FieldScope, name: string): void {
  if (!fields.has(name)) fields.set(name, knownField(name, { declared: false }));
}

function fromSettings(
  settings: Readonly<Record<string, FieldSettings | ItemFieldSettings>>,
): KnownFields {
  return new Map(
    Object.entries(settings).map(([name, field]) => [
      name,
      knownField(name, {
        ...field,
        guarded: guardDaysOf(field) !== undefined,
        fields: fromSettings(field.fields ?? {}),
      }),
    ]),
  );
}

function fromCompiled(compiled: readonly CompiledField[]): KnownFields {
  return new Map(
    compiled.map((field) => [
      field.name,
      knownField(field.name, {
        ...field,
        declared: field.outside !== true,
        fields: fromCompiled(field.fields ?? []),
      }),
    ]),
  );
}

function knownField(
  name: string,
  {
    kind = 'text',
    default: value,
    sample,
    secret = false,
    guarded = false,
    declared = true,
    fields = new Map(),
  }: Partial<Omit<KnownField, 'name' | 'parts'>>,
): KnownField {
  const known = { name, kind, default: value, sample, secret, guarded, declared, fields };
  return { ...known, parts: new Set() };
}

function toCompiled(field: KnownField, top: boolean): CompiledField {
  const { name, kind, parts, secret, declared, default: value } = field;
  return {
    name,
    parts: [...parts],
    secret,
    ...(value === undefined ? {} : { default: value }),
    ...(kind === 'text'
      ? {}
      : { kind, fields: [...field.fields.values()].map((inner) => toCompiled(inner, false)) }),
    ...(top || declared ? {} : { outside: true }),
  };
}

/** A link of a secret list is never tracked if it has fields. */
function hideLink({ link }: CompiledUrl, links: CompiledLink[]): void {
  const found = link === undefined ? undefined : links[link];
  if (found === undefined || found.fields.length === 0) return;
  links[found.index] = { ...found, secret: true, trackable: false };
}

function article(kind: FieldKind): string {
  return kind === 'object' ? 'an object' : `a ${kind}`;
}
