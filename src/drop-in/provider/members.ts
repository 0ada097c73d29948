import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import type { FaultDetail } from '../../base/values/errors.ts';
import { isObject } from '../../base/values/is-object.ts';
import { describeBodyProblems } from '../../sending/submission/describe-body-problems.ts';
import { invalidMember, invalidMembers, Place } from './place.ts';
import { readMailbox } from './read-mailboxes.ts';

/** Names and values. */
export type Texts = Readonly<Record<string, string>>;

/** The same names with other values. */
export function mapValues<From, To>(
  given: Readonly<Record<string, From>>,
  change: (value: From) => To,
): Readonly<Record<string, To>> {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, change(value)]));
}

/** The values that a member takes, and what is read from one. */
export interface Shape<Value = unknown> {
  /** Null always counts as absent. */
  readonly schema: TSchema;
  /** Undefined: a value is taken as it is. @param note what the table says about the member */
  readonly read?: (given: never, place: Place, note: string) => Value;
}

/** A member of a provider's request. */
interface BodyMember<Value = unknown> extends Shape<Value> {
  /** What it becomes, or why it's refused: the end of a sentence that begins with its name. Absent: it means what it means there. */
  readonly note?: string;
}

/** @param read undefined: values are taken as they are */
export function shape<Schema extends TSchema, Value = Static<Schema>>(
  schema: Schema,
  read?: (given: Static<Schema>, place: Place, note: string) => Value,
): Shape<NoInfer<Value>> {
  return { schema, read };
}

/** Only this value; others are refused with the note. */
export function only<Schema extends TSchema>(wanted: Static<Schema>, schema: Schema) {
  return shape(schema, (given, place, note) => place.refuseIf(given !== wanted, note));
}

/** The values that members of several providers take. */
export const schemas = {
  text: Type.String(),
  short: Type.String({ maxLength: 200 }),
  address: Type.String({ maxLength: 2_000 }),
  never: Type.Never(),
  object: Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' }),
  texts: Type.Unsafe<Texts>({ type: 'object', additionalProperties: { type: 'string' } }),
};

const shapes = {
  text: shape(schemas.text),
  short: shape(schemas.short),
  address: shape(schemas.address),
  mailbox: shape(schemas.address, readMailbox),
  object: shape(schemas.object),
  texts: shape(schemas.texts),
  flag: shape(Type.Boolean()),
  integer: shape(Type.Integer()),
  refused: shape(schemas.never),
};

type Shapes = Readonly<Record<string, Shape>>;

/**
 * A member in one line: `text` is supported, `text: becomes …` is mapped, and `refused: isn’t …` is refused. `text as tag` is read
 * as `tag`.
 */
type Spec<Own> =
  | `${keyof (Own & typeof shapes) & string}${'' | ` as ${string}` | `: ${string}`}`
  | BodyMember;
type Specs<Own> = Readonly<Record<string, Spec<Own>>>;

/** What is before the note. */
type Head<Given> = Given extends `${infer Text}: ${string}` ? Text : Given;
type ShapeName<Given> = Head<Given> extends `${infer Name} as ${string}` ? Name : Head<Given>;
type Camel<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<Camel<Rest>>}`
  : Name;
type OwnName<Name extends string, Given> =
  Head<Given> extends `${string} as ${infer Own}` ? Own : Uncapitalize<Camel<Name>>;
type Taken<Given, All> =
  Given extends BodyMember<infer Value>
    ? Value
    : All[ShapeName<Given> & keyof All] extends Shape<infer Value>
      ? Value
      : never;

/** What a table reads, under the names that it has here: `reply_to` is `replyTo`. */
type MemberValues<Table, All> = {
  readonly [Name in keyof Table & string as OwnName<Name, Table[Name]>]?: Taken<Table[Name], All>;
};

interface TableMember extends BodyMember {
  readonly note: string;
  readonly treatment: 'supported' | 'mapped' | 'refused';
  readonly ownName: string;
}

const specPattern = /^(\w+)(?: as (\w+))?(?:: (.*))?$/u;

function toMember(name: string, spec: Spec<object>, all: Shapes): TableMember {
  const words = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const camelCase = words.charAt(0).toLowerCase() + words.slice(1);
  const [, kind = '', ownName = camelCase, note = ''] = specPattern.exec(String(spec)) ?? [];
  const member = { note, ...(typeof spec === 'string' ? (all[kind] as Shape) : spec) };
  const isRefused = member.schema === schemas.never;
  const treatment = isRefused ? 'refused' : member.note === '' ? 'supported' : 'mapped';
  return { ...member, treatment, ownName };
}

/** What several providers say about the same members. */
export const notes = {
  headers:
    'can be `X-…`, `List-…` except unsubscribe, `References`, `In-Reply-To`, `Importance` and `Feedback-ID`; the service writes its own unsubscribe headers',
  attributes: 'become attributes: up to 20, with names of 40 and values of 200 characters',
} as const;

/** The members of a provider's object. What it has besides them, or can't be honored, is refused by name. */
export class MemberTable<
  const Table extends Specs<Own> = Specs<object>,
  Own extends Shapes = Readonly<Record<never, Shape>>,
  Values = MemberValues<Table, typeof shapes & Own>,
> {
  /** Without a prototype: callers choose the names that are looked up. */
  readonly members: Record<string, TableMember> = Object.create(null);
  #validate: ValidateFunction | undefined;

  /** @param own shapes of its members, besides those that are shared */
  constructor(members: Table, own?: Own) {
    for (const [name, spec] of Object.entries(members as Specs<object>))
      this.members[name] = toMember(name, spec, { ...shapes, ...own });
  }

  /** The names of its members by those that they have here. */
  get names(): Readonly<Record<string, string>> {
    const members = Object.entries(this.members);
    return Object.fromEntries(members.map(([name, { ownName }]) => [ownName, name]));
  }

  /** Of the members that are taken, all of them optional. */
  get schema(): TSchema {
    const taken: TProperties = {};
    for (const [name, { schema, treatment }] of Object.entries(this.members))
      if (treatment !== 'refused') taken[name] = Type.Optional(schema);
    return Type.Object(taken);
  }

  /**
   * @param place of the object, before the names in errors: `attachments[0].`
   * @param details gets what is wrong with well-formed members; undefined: it is thrown
   * @param required members that it must have
   * @throws Fault VALIDATION_FAILED that names each problem
   */
  read(value: unknown, place = '', details?: FaultDetail[], ...required: string[]): Values {
    if (!isObject(value)) throw invalidMember(place.replace(/\.$/, ''), 'must be an object');
    const problems: FaultDetail[] = [];
    const taken: Record<string, unknown> = Object.create(null);
    for (const [name, given] of Object.entries(value)) {
      const known = this.members[name];
      if (given === null || given === undefined) continue;
      if (known !== undefined && known.treatment !== 'refused') taken[name] = given;
      else problems.push({ field: place + name, reason: known?.note ?? unknownMember });
    }
    this.#validate ??= new Ajv({ allErrors: true, strict: true }).compile(this.schema);
    if (!this.#validate(taken)) problems.push(...describe(this.#validate.errors ?? [], place));
    if (problems.length > 0) throw invalidMembers(problems);
    const found = details ?? [];
    const values: [string, unknown][] = [];
    for (const [name, { read, note, ownName }] of Object.entries(this.members)) {
      const given = taken[name];
      const at = new Place(place + name, found);
      const own = given === undefined || !read ? given : read(given as never, at, note);
      if (own !== undefined) values.push([ownName, own]);
      const isMissing = own === undefined || (Array.isArray(own) && own.length === 0);
      if (isMissing && required.includes(ownName)) at.refuse('is required');
    }
    if (details === undefined && found.length > 0) throw invalidMembers(found);
    return Object.fromEntries(values) as Values;
  }

  /** A member that is such an object. @param required members that it must have */
  asObject(...required: string[]): Shape<Values> {
    return shape(schemas.object, (given, { field, details }) =>
      this.read(given, `${field}.`, details, ...required),
    );
  }

  /** A member that is a list of them. @param change what becomes of the list */
  asList<List = Values[]>(
    { maxItems = 100, required = [] }: { maxItems?: number; required?: string[] } = {},
    change = (list: Values[], _place: Place) => list as List,
  ): Shape<NoInfer<List>> {
    return shape(Type.Array(schemas.object, { maxItems }), (list, place) => {
      const readOne = (one: unknown, index: number) =>
        this.read(one, `${place.field}[${index}].`, place.details, ...required);
      return change(list.map(readOne), place);
    });
  }

  /** A member that is a list of names and values, such as headers: read as one object. */
  asPairs(maxItems?: number): Shape<Texts> {
    return this.asList({ maxItems }, (list, place) => {
      const pairs = new Map<string, string>();
      for (const [index, { name = '', value = '' }] of (list as Partial<Pair>[]).entries()) {
        const at = place.at(`[${index}].${this.names.name}`);
        if (name === '') at.refuse('is required');
        else at.refuseIf(pairs.has(name), 'is given twice');
        pairs.set(name, value);
      }
      return Object.fromEntries(pairs);
    });
  }
}

type Pair = Record<'name' | 'value', string>;

/** Makes tables whose members have these shapes, besides those that are shared. */
export function tablesWith<Own extends Shapes>(own: Own) {
  const make = <const Table extends Specs<Own>>(members: Table) =>
    new MemberTable<Table, Own>(members, own);
  return Object.assign(make, { shapes: own });
}

export const unknownMember = 'isn’t known to Signalpost; remove it';

/** One detail for each member, also if it fits none of several schemas. */
function describe(errors: readonly ErrorObject[], place: string): FaultDetail[] {
  const named = errors.filter(({ keyword }) => keyword !== 'anyOf');
  const problems = Map.groupBy(describeBodyProblems(named), ({ field }) => field);
  return [...problems].map(([field, found]) => ({
    field: place + field,
    reason: [...new Set(found.map(({ reason }) => reason))].join(' or '),
  }));
}
