import { isDeepStrictEqual } from 'node:util';
import type { AuditEvent } from '../../accounts/audit/audit-store.ts';
import type { DatabaseTransaction } from '../../base/database/open-database.ts';
import { isObject } from '../../base/values/is-object.ts';
import { type Actor, recordChange } from '../change/actor.ts';
import {
  changeResource,
  dropResource,
  type Resource,
  type ResourceChange,
  ResourceNotFound,
  runChange,
} from '../change/change-resource.ts';
import type { EntryScope } from '../manifest/apply-manifest.ts';
import { requirePreconditions } from './answer/entity-tag.ts';
import { invalidFields } from './answer/problem.ts';
import { type ManagementOperation, membersOf, type OperationCall } from './operation.ts';

/** The caller, for the audit log. */
export function callerOf({ actor, account, params, request }: OperationCall): Actor {
  return {
    principal: actor,
    origin: { remoteAddress: request.ip, requestId: request.id },
    accountId: account?.id ?? params.accountId,
  };
}

/**
 * Reads a resource as its view.
 * @param transaction the transaction of a change
 * @throws ResourceNotFound if it doesn't exist
 */
export async function requireResource<View>(
  call: OperationCall,
  { kind, read }: Pick<Resource<View>, 'kind' | 'read'>,
  transaction: DatabaseTransaction = call.kysely,
): Promise<View> {
  const found = await read(transaction);
  if (found === undefined) throw new ResourceNotFound(kind);
  return found;
}

/**
 * Creates or updates a resource if the preconditions of the request hold.
 * @returns the new state; the response for a created resource is 201
 */
export async function saveResource<View extends object>(
  call: OperationCall,
  change: ResourceChange<View>,
  actor = callerOf(call),
): Promise<View> {
  const { after, created } = await changeResource(call.dependencies, actor, {
    ...change,
    precondition: (before) => {
      requirePreconditions(call.request, before);
      requireUnchanged(call.readOnly, before);
    },
  });
  if (created) call.reply.code(201);
  return after;
}

/**
 * Deletes a resource if the preconditions of the request hold.
 * @throws ResourceNotFound if it doesn't exist
 */
export async function removeResource<View extends object>(
  call: OperationCall,
  change: ResourceChange<View>,
): Promise<void> {
  await dropResource(call.dependencies, callerOf(call), {
    ...change,
    precondition: (before) => requirePreconditions(call.request, before),
  });
}

/** Runs a change under the lock of the account in the path, or of the installation if the path has no account. */
export function inTransaction<Result>(
  call: OperationCall,
  work: (transaction: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  return runChange(call.dependencies, callerOf(call).accountId, work);
}

/** Records a change and its actor in the audit log, within the transaction of the change. */
export function recordAudit(
  call: OperationCall,
  transaction: DatabaseTransaction,
  kind: string,
  id: string,
  detail?: AuditEvent['detail'],
  outcome?: AuditEvent['outcome'],
): Promise<void> {
  return recordChange(transaction, callerOf(call), kind, id, detail, outcome);
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Splits bodies into what can be written and what can't: members that only GET has, so that what GET gives can be put back.
 * @returns the function that splits a body of the operation
 */
export function splitReadOnly({ conditional, answer, body, bodyMember }: ManagementOperation) {
  const writable = membersOf(body);
  const shown = conditional === true && body !== undefined ? membersOf(answer) : {};
  const names = new Set(Object.keys(shown).filter((name) => !Object.hasOwn(writable, name)));
  /** GET has no member that can be written, so what it gives says nothing about what to write. */
  const isDisjoint = bodyMember === undefined && names.size === Object.keys(shown).length;
  return (given: unknown): SplitBody => {
    const entries = Object.entries(isObject(given) ? given : {});
    const readOnly = entries.filter(([name]) => names.has(name));
    if (readOnly.length === 0) return { writable: given, readOnly: {}, writesNothing: false };
    const isAll = readOnly.length === entries.length;
    const wrapper = isAll ? entries.find(([name]) => name === bodyMember) : undefined;
    return {
      writable: wrapper
        ? wrapper[1]
        : Object.fromEntries(entries.filter(([name]) => !names.has(name))),
      readOnly: Object.fromEntries(readOnly.filter(([name]) => name !== wrapper?.[0])),
      writesNothing: isAll && isDisjoint,
    };
  };
}

interface SplitBody {
  readonly writable: unknown;
  readonly readOnly: Members;
  /** It is what GET gives, and no more. */
  readonly writesNothing: boolean;
}

/**
 * @param before the current view; undefined if the resource doesn't exist
 * @throws Problem that names the read-only members that the caller wants to change
 */
function requireUnchanged(readOnly: Members, before: unknown): void {
  const names = Object.keys(readOnly);
  if (names.length === 0) return;
  const current: Members = JSON.parse(JSON.stringify(before ?? {}));
  const errors = names
    .filter((name) => !isDeepStrictEqual(readOnly[name], current[name]))
    .map((field) => ({
      field,
      reason: 'is read-only; omit it, or send the value that GET returned',
    }));
  if (errors.length > 0) throw invalidFields(errors);
}

/** Where a change through the API applies an entry of a manifest to the account of the path. */
export function entryScope(call: OperationCall, transaction: DatabaseTransaction): EntryScope {
  const { key, outboxNetworks } = call.dependencies;
  const { accountId } = call.params;
  return { transaction, key, accountId, options: { outboxNetworks } };
}
