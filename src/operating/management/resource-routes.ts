import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Access } from '../../accounts/access/permission.ts';
import type { DatabaseTransaction } from '../../base/database/open-database.ts';
import type { Wire } from '../../base/values/wire.ts';
import type { Resource, ResourceChange } from '../change/change-resource.ts';
import { definePages } from './answer/list-operations.ts';
import { type ManagementOperation, membersOf, type OperationCall } from './operation.ts';
import type { PathParams } from './path-params.ts';
import { removeResource, requireResource, saveResource } from './save-resource.ts';

export interface ManagementRoute {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Below `/manage/v1`. */
  readonly path: string;
  readonly access: Access;
  readonly operation: ManagementOperation;
  /** Body size class, unless it follows from the other columns. */
  readonly size?: 'content' | 'values' | undefined;
}

/** A row of the route table. */
export type RouteRow = readonly [
  ManagementRoute['method'],
  string,
  Access,
  ManagementOperation,
  ManagementRoute['size']?,
];

type ViewValue<View extends TSchema> = Wire<Static<View>> & object;

/** Documentation of an endpoint. */
type Description = Pick<
  ManagementOperation,
  'id' | 'summary' | 'description' | 'limited' | 'confirmed' | 'bodyMember'
>;

/** Writes within the transaction that read the previous state. */
type Write<View> = (transaction: DatabaseTransaction, before: View | undefined) => Promise<unknown>;

interface ResourceRoutes<
  View extends TSchema,
  Found extends ViewValue<View>,
  Filters extends TProperties,
  Body extends TSchema,
  PutQuery extends TObject,
  RemoveQuery extends TObject,
> {
  /** Path of a single resource. The list path omits the last segment. */
  readonly path: string;
  readonly access: { readonly read: Access; readonly write: Access; readonly remove?: Access };
  readonly view: View;
  resource(call: OperationCall): Resource<Found>;
  readonly list?: Description & {
    readonly filters?: Filters;
    /** The member that the list is sorted by, used as the cursor. */
    readonly key: keyof Static<View> & string;
    /** Needs to return no more than `limit` items. */
    read(
      call: OperationCall<Static<TObject<Filters>>>,
      page: { readonly after: string; readonly limit: number },
    ): Promise<ViewValue<View>[]>;
  };
  readonly get: Description & {
    /** Runs first, to check that the parent resource exists. */
    requireParent?(call: OperationCall): Promise<unknown>;
  };
  readonly put?: Description & {
    readonly query?: PutQuery;
    readonly body?: Body;
    readonly size?: ManagementRoute['size'];
    /** Do slow work here, before the transaction. The returned function runs inside it. */
    write(
      call: OperationCall<Static<PutQuery>, Static<Body>>,
    ): Write<Found> | Promise<Write<Found>>;
  };
  readonly remove?: Description & {
    readonly query?: RemoveQuery;
    write(call: OperationCall<Static<RemoveQuery>>): Write<Found>;
  };
}

/** A resource that path parameters name, one of which is its ID. */
interface NamedResource<View> extends Omit<ResourceChange<View>, 'id' | 'read' | 'write'> {
  readonly id: keyof PathParams;
  read(transaction: DatabaseTransaction, call: OperationCall): Promise<View | undefined>;
}

/** The resource that a call is about. */
export function resourceOf<View extends object>({ id, read, ...facts }: NamedResource<View>) {
  return (call: OperationCall) => ({
    ...facts,
    id: String(call.params[id]),
    read: (transaction: DatabaseTransaction) => read(transaction, call),
  });
}

/** Route table rows that list, get, put and delete a resource. */
export function resourceRoutes<
  View extends TSchema,
  Found extends ViewValue<View>,
  Filters extends TProperties,
  Body extends TSchema,
  PutQuery extends TObject,
  RemoveQuery extends TObject,
>(routes: ResourceRoutes<View, Found, Filters, Body, PutQuery, RemoveQuery>): RouteRow[] {
  const { path, access, view, resource, list, get, put, remove } = routes;
  const rows: RouteRow[] = [];
  if (list !== undefined) {
    const { key, read, ...described } = list;
    const operation = definePages({
      ...described,
      item: view,
      cursor: ['text'],
      read: (call: Parameters<typeof read>[0], { after: [after] = [''], limit }) =>
        read(call, { after, limit }),
      view: (item) => item,
      place: (item) => [String(item[key as keyof typeof item])],
    });
    rows.push(['GET', path.slice(0, path.lastIndexOf('/')), access.read, operation]);
  }
  const { requireParent, ...described } = get;
  const handle = async (call: OperationCall) => {
    await requireParent?.(call);
    return requireResource(call, resource(call));
  };
  rows.push(['GET', path, access.read, { ...described, answer: view, handle }]);
  if (put !== undefined) {
    const { write, size, ...described } = put;
    const hidden = writeOnlyMembers(described, view);
    const handle = async (call: OperationCall) =>
      saveResource(call, {
        ...resource(call),
        writeOnly: hidden.filter((name) => Object.hasOwn(call.body as object, name)),
        ...(call.writesNothing
          ? { mustExist: true, write: async () => undefined }
          : { write: await write(call as Parameters<typeof write>[0]) }),
      });
    const operation = { ...described, answer: view, conditional: true, handle };
    rows.push(['PUT', path, access.write, operation, size]);
  }
  if (remove !== undefined) {
    const { write, ...described } = remove;
    const handle = (call: OperationCall) =>
      removeResource(call, {
        ...resource(call),
        write: write(call as Parameters<typeof write>[0]),
      });
    const operation = { ...described, conditional: true, handle };
    rows.push(['DELETE', path, access.remove ?? access.write, operation]);
  }
  return rows;
}

/** Members of a body that its resource doesn't show. */
function writeOnlyMembers(
  { body, bodyMember }: Pick<ManagementOperation, 'body' | 'bodyMember'>,
  view: TSchema,
): string[] {
  if (bodyMember !== undefined) return [];
  const shown = membersOf(view);
  return Object.keys(membersOf(body)).filter((name) => !Object.hasOwn(shown, name));
}
