import { Type } from 'typebox';
import { Nullable } from '../../base/values/common-schemas.ts';

/** The response of `GET /api/1/list`. */
export const ListingSchema = Type.Object(
  {
    count: Type.Integer(),
    offset: Type.Integer(),
    totalCount: Type.Integer({ description: 'The total number of lists.' }),
    result: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        folderName: Type.String(),
        description: Type.String(),
        sourceSize: Type.Integer(),
        tsCreated: Type.Integer({ description: 'Milliseconds since the epoch.' }),
        tsLastModified: Type.Integer({ description: 'Milliseconds since the epoch.' }),
      }),
    ),
  },
  { title: 'Listing' },
);

export const ListingErrorSchema = Type.Object(
  { errorCode: Nullable(Type.String()), message: Type.String() },
  { title: 'ListingError' },
);
