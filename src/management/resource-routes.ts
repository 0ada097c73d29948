import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Access } from '../access/permission.ts';
import type { Resource } from '../change/change-resource.ts';
import type { DatabaseTransaction } from '../foundation/database/open-database.ts';
import type { Wire } from '../foundation/wire.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from './answer/page.ts';
import type { ManagementOperation, OperationCall } from './operation.ts';
import { removeResource, requireResource, saveResource } from './save-resource.ts';

export interface ManagementRoute {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Below `/manage/v1`. */
  readonly path: string;
  readonly access: Access;
  readonly operation: ManagementOperation;
  /** Body size class, unless it follows from the other columns. */
  readonly size?: 'sources' | 'values' | undefined;
}

/** A line of the route table. */
export type RouteRow = readonly [
  ManagementRoute['method'],
  string,
  Access,
  ManagementOperation,
  ManagementRoute['size']?,
];

type Seen<View extends TSchema> = Wire<Static<View>> & object;

/** How an endpoint is documented. */
type Description = Pick<ManagementOperation, 'id' | 'summary' | 'description' | 'limited'>;

/** Writes, in the transaction that read what was before. */
type Write<View> = (transaction: DatabaseTransaction, before: View | undefined) => Promise<unknown>;

interface ResourceRoutes<
  View extends TSchema,
  Found extends Seen<View>,
  Filters extends TProperties,
  Body extends TSchema,
  PutQuery extends TObject,
  RemoveQuery extends TObject,
> {
  /** Of the one thing; the list has it without its last segment. */
  readonly path: string;
  readonly access: { readonly read: Access; readonly write: Access; readonly remove?: Access };
  readonly view: View;
  resource(call: OperationCall): Resource<Found>;
  readonly list?: Description & {
    readonly filters?: Filters;
    /** The member that the list is in the order of; a page begins after one. */
    readonly key: keyof Static<View> & string;
    /** At most `limit` things need to be read. */
    read(
      call: OperationCall<Static<TObject<Filters>>>,
      page: { readonly after: string; readonly limit: number },
    ): Promise<Seen<View>[]>;
  };
  readonly get: Description & {
    /** Looks before anything else whether that is there to which the thing belongs. */
    first?(call: OperationCall): Promise<unknown>;
  };
  readonly put?: Description & {
    readonly query?: PutQuery;
    readonly body?: Body;
    readonly size?: ManagementRoute['size'];
    /** What takes long, or is not about what was before, is done before the transaction. */
    write(
      call: OperationCall<Static<PutQuery>, Static<Body>>,
    ): Write<Found> | Promise<Write<Found>>;
  };
  readonly remove?: Description & {
    readonly query?: RemoveQuery;
    write(call: OperationCall<Static<RemoveQuery>>): Write<Found>;
  };
}

/** The lines of the route table for a thing that is listed, read, made or changed, and removed. */
export function resourceRoutes<
  View extends TSchema,
  Found extends Seen<View>,
  Filters extends TProperties,
  Body extends TSchema,
  PutQuery extends TObject,
  RemoveQuery extends TObject,
>(routes: ResourceRoutes<View, Found, Filters, Body, PutQuery, RemoveQuery>): RouteRow[] {
  const { path, access, view, resource, list, get, put, remove } = routes;
  const rows: RouteRow[] = [];
  if (list !== undefined) {
    const { filters, key, read, ...described } = list;
    const handle = async (call: OperationCall) => {
      const query = call.query as Static<typeof anyPage>;
      const limit = pageSizeOf(query);
      const [after = ''] = readCursor(query, 'text') ?? [];
      const items = await read(call as Parameters<typeof read>[0], { after, limit: limit + 1 });
      return toPage(
        items,
        limit,
        (item) => item,
        (item) => [String(item[key as keyof typeof item])],
      );
    };
    const query = pageQuery(filters ?? {});
    const answer = pageOf(view);
    const listPath = path.slice(0, path.lastIndexOf('/'));
    rows.push(['GET', listPath, access.read, { ...described, query, answer, handle }]);
  }
  const { first, ...described } = get;
  const handle = async (call: OperationCall) => {
    await first?.(call);
    return requireResource(call, resource(call));
  };
  rows.push(['GET', path, access.read, { ...described, answer: view, handle }]);
  if (put !== undefined) {
    const { write, size, ...described } = put;
    const handle = async (call: OperationCall) =>
      saveResource(call, {
        ...resource(call),
        write: await write(call as Parameters<typeof write>[0]),
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

const anyPage = pageQuery({});
