import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import {
  describeBodyProblems,
  limitDetails,
} from '../../sending/submission/describe-body-problems.ts';

/** What becomes of a member of a provider's request. */
export interface BodyMember<Schema extends TSchema = TSchema> {
  /** `supported`: it means here what it means there. */
  readonly treatment: 'supported' | 'mapped' | 'refused';
  /** Of the values that are taken; null always counts as absent. */
  readonly schema: Schema;
  /** What it becomes, or why it's refused: the end of a sentence that begins with its name. */
  readonly note: string;
}

export function supported<Schema extends TSchema>(schema: Schema): BodyMember<Schema> {
  return { treatment: 'supported', schema, note: '' };
}

/** @param note such as `becomes an attribute` */
export function mapped<Schema extends TSchema>(schema: Schema, note: string): BodyMember<Schema> {
  return { treatment: 'mapped', schema, note };
}

/** @param note such as `isn’t supported, because Signalpost has no topics` */
export function refused(note: string): BodyMember<ReturnType<typeof Type.Never>> {
  return { treatment: 'refused', schema: Type.Never(), note };
}

const address = Type.String({ maxLength: 2_000 });
const object = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' });

/** The values that members of several providers take. */
const shapes = {
  text: Type.String(),
  short: Type.String({ maxLength: 200 }),
  address,
  addresses: Type.Array(address, { maxItems: 150 }),
  object,
  list: Type.Array(object, { maxItems: 100 }),
  texts: Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    additionalProperties: { type: 'string' },
  }),
  flag: Type.Boolean(),
  integer: Type.Integer(),
} as const;

type Shapes = typeof shapes;

/** A member in one line: `text` is supported, `text: becomes …` is mapped, and `refused: isn’t …` is refused. */
type Spec = keyof Shapes | `${keyof Shapes}: ${string}` | `refused: ${string}` | BodyMember;

type Specs = Readonly<Record<string, Spec>>;

type Taken<Given> = Given extends BodyMember
  ? Static<Given['schema']>
  : Given extends keyof Shapes
    ? Static<Shapes[Given]>
    : Given extends `${infer Name extends keyof Shapes}: ${string}`
      ? Static<Shapes[Name]>
      : never;

export type MemberValues<Table extends Specs> = {
  readonly [Name in keyof Table]?: Taken<Table[Name]>;
};

function toMember(spec: Spec): BodyMember {
  if (typeof spec !== 'string') return spec;
  const [, name = '', note = ''] = /^(\w+)(?:: (.*))?$/u.exec(spec) ?? [];
  if (name === 'refused') return refused(note);
  const schema = shapes[name as keyof Shapes];
  return note === '' ? supported(schema) : mapped(schema, note);
}

/** What several providers say about the same members. */
export const headersNote =
  'can be `X-…`, `List-…` except unsubscribe, `References`, `In-Reply-To`, `Importance` and `Feedback-ID`; the service writes its own unsubscribe headers';
export const attributesNote =
  'become attributes: up to 20, with names of 40 and values of 200 characters';

/** The members of a provider's object. What it has besides them, or can't be honored, is refused by name. */
export class MemberTable<const Table extends Specs = Specs> {
  readonly members: Readonly<Record<string, BodyMember>>;
  #validate: ValidateFunction<MemberValues<Table>> | undefined;

  constructor(members: Table) {
    const entries = Object.entries(members).map(([name, spec]) => [name, toMember(spec)]);
    this.members = Object.fromEntries(entries);
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
   * @throws Fault VALIDATION_FAILED that names each problem
   */
  read(value: unknown, place = ''): MemberValues<Table> {
    const details: FaultDetail[] = [];
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw invalidMembers([{ field: place.replace(/\.$/, ''), reason: 'must be an object' }]);
    const given = Object.entries(value).filter(
      ([, member]) => member !== null && member !== undefined,
    );
    const taken: [string, unknown][] = [];
    for (const [name, member] of given) {
      const known = Object.hasOwn(this.members, name) ? this.members[name] : undefined;
      if (known !== undefined && known.treatment !== 'refused') taken.push([name, member]);
      else details.push({ field: place + name, reason: known?.note ?? unknownMember });
    }
    const values = Object.fromEntries(taken);
    this.#validate ??= new Ajv({ allErrors: true, strict: true }).compile<MemberValues<Table>>(
      this.schema,
    );
    if (!this.#validate(values)) details.push(...describe(this.#validate.errors ?? [], place));
    if (details.length > 0) throw invalidMembers(details);
    return values as MemberValues<Table>;
  }

  /**
   * Reads a list of such objects.
   * @param required members that each must have; the others are told to `details`
   */
  readEach(
    list: readonly unknown[] | undefined,
    place: string,
    details: FaultDetail[],
    ...required: readonly (keyof Table & string)[]
  ): MemberValues<Table>[] | undefined {
    return list?.map((one, index) => {
      const values = this.read(one, `${place}[${index}].`);
      for (const name of required)
        if (values[name] === undefined)
          details.push({ field: `${place}[${index}].${name}`, reason: 'is required' });
      return values;
    });
  }
}

export const unknownMember = 'isn’t known to Signalpost; remove it';

/** One detail for each member, also if it fits none of several schemas. */
function describe(errors: readonly ErrorObject[], place: string): FaultDetail[] {
  const reasons = new Map<string, Set<string>>();
  for (const { field, reason } of describeBodyProblems(
    errors.filter(({ keyword }) => keyword !== 'anyOf'),
  ))
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

/** A request with one problem. */
export function invalidMember(field: string, reason: string): Fault {
  return invalidMembers([{ field, reason }]);
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

/** Members of the send body by what errors call them, if a provider names the usual ones as everybody does. */
const usualNames = {
  to: 'envelope.toAddress envelope.toDisplayName',
  cc: 'envelope.ccAddressList',
  bcc: 'envelope.bccAddressList',
  from: 'envelope.fromAddress envelope.fromDisplayName',
  replyTo: 'envelope.replyToAddress',
  envelope: 'envelope',
  content: 'content',
  subject: 'content.subjectLine',
  html: 'content.html',
  text: 'content.text',
  headers: 'content.headers',
  attachments: 'content.attachments',
  values: 'content.personalizationDataMap',
  attributes: 'metadata.attributes',
  tag: 'metadata.tagList metadata.tagList[0]',
  externalId: 'metadata.externalId',
  transactional: 'metadata.transactional',
  sendAt: 'actions.sendAt',
  trackOpens: 'actions.trackOpens',
  trackClicks: 'actions.trackClicks',
  templateId: 'templateId',
  messages: 'messages',
  idempotencyKey: 'idempotencyKey',
} as const;

/** `To` for `to`. */
export function pascal(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** The members of a provider's email by those of the send body; those that aren't given have the name of the neutral one. */
export function namesOf(
  given: Partial<Readonly<Record<keyof typeof usualNames, string>>>,
  styled: (name: string) => string = (name) => name,
): Readonly<Record<string, string>> {
  const names = Object.entries(usualNames).flatMap(([name, members]) =>
    members
      .split(' ')
      .map((member) => [member, given[name as keyof typeof usualNames] ?? styled(name)] as const),
  );
  return Object.fromEntries(names);
}
