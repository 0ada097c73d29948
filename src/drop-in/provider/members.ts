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

type Members = Readonly<Record<string, BodyMember>>;

type Values<Table extends Members> = {
  readonly [Name in keyof Table]?: Static<Table[Name]['schema']>;
};

/** The members of a provider's object. What it has besides them, or can't be honored, is refused by name. */
export class MemberTable<Table extends Members = Members> {
  readonly members: Table;
  #validate: ValidateFunction<Values<Table>> | undefined;

  constructor(members: Table) {
    this.members = members;
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
  read(value: unknown, place = ''): Values<Table> {
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
    this.#validate ??= new Ajv({ allErrors: true, strict: true }).compile<Values<Table>>(
      this.schema,
    );
    if (!this.#validate(values)) details.push(...describe(this.#validate.errors ?? [], place));
    if (details.length > 0) throw invalidMembers(details);
    return values as Values<Table>;
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

/** A request with problems, of which the first ones are named. */
export function invalidMembers(details: readonly FaultDetail[]): Fault {
  return new Fault('VALIDATION_FAILED', { details: limitDetails(details) });
}
