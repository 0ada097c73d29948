import { Type } from 'typebox';
import { Nullable, OpenObject, Text, Whole } from '../../base/values/common-schemas.ts';

const Milliseconds = Whole('Milliseconds since the epoch.');

/** Where the contacts of a list come from: each list is its own source, and none is a CRM’s. */
export const listFlags = {
  bIsSingleton: false,
  bIsList: true,
  bIsSforce: false,
  bIsSforceReport: false,
  bIsSforceAvailable: false,
  bIsMSDyn: false,
  bIsMSDynAvailable: false,
  bIsSugar: false,
  bIsSugarAvailable: false,
  bIsSL: false,
  bIsSLAvailable: false,
  bIsNsuite: false,
  bIsNsuiteAvailable: false,
};

const flagSchemas = Object.fromEntries(
  Object.keys(listFlags).map((name) => [name, Type.Boolean()]),
) as Record<keyof typeof listFlags, ReturnType<typeof Type.Boolean>>;

/** The response of `GET /api/1/list`. */
export const ListingSchema = OpenObject('Listing', {
  count: Type.Integer(),
  offset: Type.Integer(),
  totalCount: Whole('The total number of lists.'),
  result: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      folderName: Type.String(),
      description: Type.String(),
      sourceId: Text('The ID of the list.'),
      baseId: Text('The ID of the list.'),
      sourceName: Text('The name of the list.'),
      sourceSize: Whole('The number of contacts.'),
      sourceTS: Milliseconds,
      tsSource: Milliseconds,
      tsCreated: Milliseconds,
      tsLastCounted: Milliseconds,
      tsLastModified: Milliseconds,
      ...flagSchemas,
    }),
  ),
});

export const ListingErrorSchema = OpenObject('ListingError', {
  errorCode: Nullable(Type.String()),
  message: Type.String(),
});
