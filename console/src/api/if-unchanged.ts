import { text } from '../texts/text.ts';
import {
  type Answer,
  type Body,
  ifMatch,
  ifNone,
  type Params,
  type PathOf,
  type Precondition,
  type Query,
  type RequestParts,
  sendToApi,
  type Tagged,
} from './management.ts';
import { ApiProblem, localProblem } from './problem.ts';

/** A changed member, with the value the person saw and the current one. */
export interface MemberChange {
  readonly name: string;
  readonly seen: unknown;
  readonly now: unknown;
}

/** Someone else changed the resource since the person loaded it. */
export class EditConflict extends ApiProblem {
  readonly changes: readonly MemberChange[];
  /** The resource as it is now. */
  readonly current: object;

  constructor(changes: readonly MemberChange[], current: object) {
    super(412, { title: text('problem.changed') });
    this.changes = changes;
    this.current = current;
  }
}

/**
 * Changes or removes a resource only if it hasn't changed since the person loaded it. Reads it again, because the page
 * may be hours old, and sends its ETag in `If-Match`.
 * @param seen the data shown to the person
 * @throws EditConflict if someone else changed it
 */
export async function ifUnchanged<Thing extends object, Changed>(
  seen: Partial<Thing>,
  read: () => Promise<Tagged<Thing>>,
  change: (precondition: Precondition) => Promise<Changed>,
): Promise<Changed> {
  const { value, tag } = await read();
  requireUnchanged(seen, value);
  try {
    return await change(ifMatch(tag));
  } catch (error) {
    if (isStale(error)) requireUnchanged(seen, (await read()).value);
    throw error;
  }
}

/** Changes a resource as `ifUnchanged` does. */
export function putUnchanged<Path extends PathOf<'get'> & PathOf<'put'>>(
  path: Path,
  params: Params<Path, 'put'>,
  seen: Partial<Answer<Path, 'get'>>,
  body: Body<Path, 'put'>,
  query?: Query<Path, 'put'>,
): Promise<Answer<Path, 'put'>>;
export function putUnchanged(
  path: string,
  params: object,
  seen: object,
  body: unknown,
  query?: object,
): Promise<unknown> {
  return sendUnchanged('put', path, params, seen, { body, query });
}

/** Removes a resource as `ifUnchanged` does. */
export function deleteUnchanged<Path extends PathOf<'get'> & PathOf<'delete'>>(
  path: Path,
  params: Params<Path, 'delete'>,
  seen: Partial<Answer<Path, 'get'>>,
  query?: Query<Path, 'delete'>,
): Promise<Answer<Path, 'delete'>>;
export function deleteUnchanged(
  path: string,
  params: object,
  seen: object,
  query?: object,
): Promise<unknown> {
  return sendUnchanged('delete', path, params, seen, { query });
}

async function sendUnchanged(
  method: 'put' | 'delete',
  path: string,
  params: object,
  seen: object,
  parts: RequestParts,
): Promise<unknown> {
  const read = async () => {
    const { value, tag } = await sendToApi('get', path, params);
    return { value: Object(value), tag };
  };
  const { value } = await ifUnchanged(seen, read, (precondition) =>
    sendToApi(method, path, params, { ...parts, ...precondition }),
  );
  return value;
}

/**
 * Creates a resource if its id is free.
 * @param field form field of the id
 * @throws ApiProblem for that field if the id is taken
 */
export function createNew<Path extends PathOf<'put'>>(
  field: string,
  path: Path,
  params: Params<Path, 'put'>,
  body: Body<Path, 'put'>,
): Promise<Answer<Path, 'put'>>;
export async function createNew(
  field: string,
  path: string,
  params: object,
  body: unknown,
): Promise<unknown> {
  try {
    return (await sendToApi('put', path, params, { body, ...ifNone })).value;
  } catch (error) {
    if (isStale(error)) throw localProblem(field, text('problem.exists'));
    throw error;
  }
}

/** Whether the request failed because the resource has changed. */
export function isStale(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 412;
}

function requireUnchanged<Thing extends object>(seen: Partial<Thing>, now: Thing): void {
  const changes = Object.entries(seen)
    .map(([name, value]) => ({ name, seen: value, now: now[name as keyof Thing] as unknown }))
    .filter((change) => JSON.stringify(change.seen) !== JSON.stringify(change.now));
  if (changes.length > 0) throw new EditConflict(changes, now);
}
