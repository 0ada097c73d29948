import type { AuditEvent } from '../audit/audit-store.ts';
import { type Actor, recordChange } from '../change/actor.ts';
import {
  changeResource,
  dropResource,
  type Resource,
  type ResourceChange,
  ResourceNotFound,
  runChange,
} from '../change/change-resource.ts';
import type { DatabaseTransaction } from '../foundation/database/open-database.ts';
import { requirePreconditions } from './answer/entity-tag.ts';
import type { OperationCall } from './operation.ts';

/** Who calls, for the audit log. */
export function callerOf({ actor, account, params, request }: OperationCall): Actor {
  return {
    principal: actor,
    origin: { remoteAddress: request.ip, requestId: request.id },
    accountId: account?.id ?? params.accountId,
  };
}

/**
 * A thing as people see it.
 * @param transaction where it is read for a change
 * @throws ResourceNotFound where it is not there
 */
export async function requireResource<View>(
  call: OperationCall,
  { kind, read }: Pick<Resource<View>, 'kind' | 'read'>,
  transaction: DatabaseTransaction = call.dependencies.database.kysely,
): Promise<View> {
  const found = await read(transaction);
  if (found === undefined) throw new ResourceNotFound(kind);
  return found;
}

/**
 * Creates or changes a thing under the preconditions of the request.
 * @returns what there is now; the status is 201 where it was made
 */
export async function saveResource<View extends object>(
  call: OperationCall,
  change: ResourceChange<View>,
  actor = callerOf(call),
): Promise<View> {
  const { after, created } = await changeResource(call.dependencies, actor, {
    ...change,
    precondition: (before) => requirePreconditions(call.request, before),
  });
  if (created) call.reply.code(201);
  return after;
}

/**
 * Removes a thing under the preconditions of the request.
 * @throws ResourceNotFound where it is not there
 */
export async function removeResource<View>(
  call: OperationCall,
  change: ResourceChange<View>,
): Promise<undefined> {
  await dropResource(call.dependencies, callerOf(call), {
    ...change,
    precondition: (before) => requirePreconditions(call.request, before),
  });
  return undefined;
}

/** Runs a change alone in the account of the path, or in the installation where the path names none. */
export function inTransaction<Result>(
  call: OperationCall,
  work: (transaction: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  return runChange(call.dependencies, callerOf(call).accountId, work);
}

/** Writes into the audit log who did what to which thing, within the transaction that does it. */
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
