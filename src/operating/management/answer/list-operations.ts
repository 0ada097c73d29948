import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { Wire } from '../../../base/values/wire.ts';
import type { ManagementOperation, OperationCall } from '../operation.ts';
import { type CursorPart, pageOf, pageQuery, pageSizeOf, readCursor, toPage } from './page.ts';

type Described = Pick<ManagementOperation, 'id' | 'summary' | 'description'>;

/** An endpoint that lists everything on a single page. */
export function defineList<Item extends TSchema>({
  item,
  read,
  ...described
}: Described & {
  readonly item: Item;
  read(call: OperationCall): Promise<readonly Wire<Static<Item>>[]>;
}): ManagementOperation {
  return {
    ...described,
    answer: pageOf(item),
    handle: async (call) => ({ items: await read(call), nextCursor: null }),
  };
}

/** A place in a list: the values of a row that the list is sorted by. */
type Place<Parts extends readonly CursorPart[]> = { readonly [Index in keyof Parts]: string };

interface PagedList<
  Item extends TSchema,
  Filters extends TProperties,
  Parts extends readonly CursorPart[],
  Row,
> extends Described {
  readonly item: Item;
  readonly filters?: Filters;
  readonly cursor: Parts;
  /** Rows after a place. They need to be no more than `limit`, which is one more than a page has. */
  read(
    call: OperationCall<Static<TObject<Filters>>>,
    page: { readonly after: Place<Parts> | undefined; readonly limit: number },
  ): Promise<readonly Row[]>;
  view(row: Row, call: OperationCall): Wire<Static<Item>>;
  place(row: Row): Place<Parts>;
}

/** An endpoint that lists page by page. */
export function definePages<
  Item extends TSchema,
  Filters extends TProperties,
  const Parts extends readonly CursorPart[],
  Row,
>(list: PagedList<Item, Filters, Parts, Row>): ManagementOperation {
  const { item, filters, cursor, read, view, place, ...described } = list;
  return {
    ...described,
    query: pageQuery(filters ?? {}),
    answer: pageOf(item),
    async handle(call) {
      const query = call.query as Static<typeof anyPage>;
      const limit = pageSizeOf(query);
      const page = { after: readCursor(query, cursor), limit: limit + 1 };
      const rows = await read(call as Parameters<typeof read>[0], page);
      return toPage(rows, limit, (row) => view(row, call), place);
    },
  };
}

const anyPage = pageQuery({});
