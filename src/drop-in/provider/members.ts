import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import {
  describeBodyProblems,
  limitDetails,
} from '../../sending/submission/describe-body-problems.ts';
import { Place } from './place.ts';
import { readMailbox } from './read-mailboxes.ts';

/** The values that a member takes, and what is read from one. */
export interface Shape<Value = unknown> {
  /** Null always counts as absent. */
  readonly schema: TSchema;
  /** Undefined: a value is taken as it is. @param note what the table says about the member */
  readonly read?: (given: never, place: Place, note: string) => Value;
}

/** What becomes of a member of a provider's request. */
export interface BodyMember<Value = unknown> extends Shape<Value> {
  /** `supported`: it means here what it means there. */
  readonly treatment: 'supported' | 'mapped' | 'refused';
  /** What it becomes, or why it's refused: the end of a sentence that begins with its name. */
  readonly note: string;
}

/** Values that are taken as they are. */
export function plain<Schema extends TSchema>(schema: Schema): Shape<Static<Schema>> {
  return { schema };
}

/** Only this value; others are refused with the note. */
export function only(wanted: unknown, schema: TSchema): Shape<undefined> {
  const read = (given: unknown, place: Place, note: string): undefined => {
    if (given !== wanted) place.refuse(note);
  };
  return { schema, read };
}

export function supported<Schema extends TSchema>(schema: Schema): BodyMember<Static<Schema>> {
  return { schema, treatment: 'supported', note: '' };
}

/** @param note such as `becomes an attribute` */
export function mapped<Schema extends TSchema>(
  schema: Schema,
  note: string,
): BodyMember<Static<Schema>> {
  return { schema, treatment: 'mapped', note };
}

/** @param note such as `isn’t supported, because Signalpost has no topics` */
export function refused(note: string): BodyMember<never> {
  return { schema: Type.Never(), treatment: 'refused', note };
}

const object = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' });
const address = Type.String({ maxLength: 2_000 });

/** The values that members of several providers take. */
const shapes = {
  text: plain(Type.String()),
  short: plain(Type.String({ maxLength: 200 })),
  address: plain(address),
  mailbox: { schema: address, read: readMailbox },
  object: plain(object),
  texts: plain(
    Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      additionalProperties: { type: 'string' },
    }),
  ),
  flag: plain(Type.Boolean()),
  integer: plain(Type.Integer()),
};

type Shapes = Readonly<Record<string, Shape>>;

/**
 * A member in one line: `text` is supported, `text: becomes …` is mapped, and `refused: isn’t …` is refused. `text as tag` is read
 * as `tag`.
 */
type Spec<Own> =
  | `${keyof (Own & typeof shapes) & string}${'' | ` as ${string}` | `: ${string}`}`
  | `refused: ${string}`
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
    : ShapeName<Given> extends keyof All
      ? All[ShapeName<Given>] extends Shape<infer Value>
        ? Value
        : never
      : never;

/** What a table reads, under the names that it has here: `reply_to` is `replyTo`. */
type MemberValues<Table, Own> = {
  readonly [Name in keyof Table & string as OwnName<Name, Table[Name]>]?: Taken<
    Table[Name],
    typeof shapes & Own
  >;
};

type TableMember = BodyMember & { readonly ownName: string };

const specPattern = /^(\w+)(?: as (\w+))?(?:: (.*))?$/u;

function toMember(name: string, spec: Spec<object>, all: Shapes): TableMember {
  const words = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const camelCase = words.charAt(0).toLowerCase() + words.slice(1);
  if (typeof spec !== 'string') return { ...spec, ownName: camelCase };
  const [, shape = '', ownName = camelCase, note = ''] = specPattern.exec(spec) ?? [];
  if (shape === 'refused') return { ...refused(note), ownName };
  return {
    ...(all[shape] as Shape),
    treatment: note === '' ? 'supported' : 'mapped',
    note,
    ownName,
  };
}

/** What several providers say about the same members. */
export const headersNote =
  'can be `X-…`, `List-…` except unsubscribe, `References`, `In-Reply-To`, `Importance` and `Feedback-ID`; the service writes its own unsubscribe headers';
export const attributesNote =
  'become attributes: up to 20, with names of 40 and values of 200 characters';

/** The members of a provider's object. What it has besides them, or can't be honored, is refused by name. */
export class MemberTable<
  const Table extends Specs<Own> = Specs<object>,
  Own extends Shapes = Readonly<Record<never, Shape>>,
> {
  readonly members: Readonly<Record<string, TableMember>>;
  #validate: ValidateFunction | undefined;

  /** @param own shapes of its members, besides those that are shared */
  constructor(members: Table, own?: Own) {
    const all: Shapes = { ...shapes, ...own };
    const entries = Object.entries(members as Specs<object>);
    this.members = Object.fromEntries(
      entries.map(([name, spec]) => [name, toMember(name, spec, all)]),
    );
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
  read(
    value: unknown,
    place = '',
    details?: FaultDetail[],
    ...required: readonly string[]
  ): MemberValues<Table, Own> {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw invalidMember(place.replace(/\.$/, ''), 'must be an object');
    const problems: FaultDetail[] = [];
    const taken = new Map<string, unknown>();
    for (const [name, given] of Object.entries(value)) {
      if (given === null || given === undefined) continue;
      const known = Object.hasOwn(this.members, name) ? this.members[name] : undefined;
      if (known !== undefined && known.treatment !== 'refused') taken.set(name, given);
      else problems.push({ field: place + name, reason: known?.note ?? unknownMember });
    }
    this.#validate ??= new Ajv({ allErrors: true, strict: true }).compile(this.schema);
    if (!this.#validate(Object.fromEntries(taken)))
      problems.push(...describe(this.#validate.errors ?? [], place));
    if (problems.length > 0) throw invalidMembers(problems);
    const found = details ?? [];
    const values = new Map<string, unknown>();
    for (const [name, { read, note, ownName }] of Object.entries(this.members)) {
      const given = taken.get(name);
      const at = new Place(place + name, found);
      const own = given === undefined || !read ? given : read(given as never, at, note);
      if (own !== undefined) values.set(ownName, own);
      const isMissing = own === undefined || (Array.isArray(own) && own.length === 0);
      if (isMissing && required.includes(ownName)) at.refuse('is required');
    }
    if (details === undefined && found.length > 0) throw invalidMembers(found);
    return Object.fromEntries(values) as MemberValues<Table, Own>;
  }

  /** Reads a list of such objects. */
  readEach(
    list: readonly unknown[] | undefined,
    place: string,
    details: FaultDetail[],
    ...required: readonly string[]
  ): MemberValues<Table, Own>[] | undefined {
    return list?.map((one, at) => this.read(one, `${place}[${at}].`, details, ...required));
  }

  /** A member that is such an object. @param required members that it must have */
  asObject(...required: readonly string[]): Shape<MemberValues<Table, Own>> {
    const read = (given: unknown, { field, details }: Place) =>
      this.read(given, `${field}.`, details, ...required);
    return { schema: object, read };
  }

  /** A member that is a list of them. @param required members that each must have */
  asList(maxItems = 100, ...required: readonly string[]) {
    const read = (list: readonly unknown[], { field, details }: Place) =>
      this.readEach(list, field, details, ...required) ?? [];
    return { schema: Type.Array(object, { maxItems }), read };
  }

  /** A member that is a list of names and values, such as headers: read as one object. */
  asPairs(maxItems = 100): Shape<Readonly<Record<string, string>>> {
    const { schema, read: readList } = this.asList(maxItems);
    const read = (list: readonly unknown[], place: Place) => {
      const pairs = readList(list, place) as { name?: string; value?: string }[];
      const written = pairs.map(({ name, value }) => [name, value] as const);
      return toPairs(written, [place.field, this.names.name ?? ''], place.details) ?? {};
    };
    return { schema, read };
  }
}

export const unknownMember = 'isn’t known to Signalpost; remove it';

/** One detail for each member, also if it fits none of several schemas. */
function describe(errors: readonly ErrorObject[], place: string): FaultDetail[] {
  const reasons = new Map<string, Set<string>>();
  const named = errors.filter(({ keyword }) => keyword !== 'anyOf');
  for (const { field, reason } of describeBodyProblems(named))
    reasons.set(field, (reasons.get(field) ?? new Set()).add(reason));
  return [...reasons].map(([field, found]) => ({
    field: place + field,
    reason: [...found].join(' or '),
  }));
}

/** A request with problems, of which the first ones are named, each once. */
export function invalidMembers(details: readonly FaultDetail[]): Fault {
  const distinct = new Map(details.map((detail) => [`${detail.field} ${detail.reason}`, detail]));
  return new Fault('VALIDATION_FAILED', { details: limitDetails([...distinct.values()]) });
}

/** A request with one problem. */
export function invalidMember(field: string, reason: string): Fault {
  return invalidMembers([{ field, reason }]);
}

/**
 * A number of a query.
 * @throws Fault VALIDATION_FAILED
 */
export function readNumber(
  [name, text]: readonly [name: string, text: string | null | undefined],
  [min, max]: readonly [min: number, max: number],
  fallback: number,
): number {
  if (text === null || text === undefined || text === '') return fallback;
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw invalidMember(name, `must be a number from ${min} to ${max}`);
}

/**
 * Names and values of a list, such as headers.
 * @param place of the list, and the member that has the name
 */
export function toPairs(
  list: readonly (readonly [name: string | undefined, value: string | undefined])[] | undefined,
  [place, member]: readonly [place: string, member: string],
  details: FaultDetail[],
): Readonly<Record<string, string>> | undefined {
  const pairs = new Map<string, string>();
  for (const [index, [name = '', value = '']] of list?.entries() ?? []) {
    const field = `${place}[${index}].${member}`;
    if (name === '') details.push({ field, reason: 'is required' });
    else if (pairs.has(name)) details.push({ field, reason: 'is given twice' });
    pairs.set(name, value);
  }
  return list && Object.fromEntries(pairs);
}
