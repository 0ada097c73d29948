import { type Static, Type } from 'typebox';
import { personOf } from '../../../accounts/access/principal.ts';
import { NamedObject, StrictObject } from '../../../base/values/common-schemas.ts';
import { conflict } from '../answer/problem.ts';
import { readOptionalLocale } from '../answer/read-query.ts';
import { actorOf, type OperationCall } from '../operation.ts';
import { resourceOf, resourceRoutes } from '../resource-routes.ts';
import { messageFilters } from './manage-messages-routes.ts';
import {
  maxSavedFilters,
  readSavedFilters,
  removeFilter,
  saveFilter,
} from './saved-filter-store.ts';

const { search, state, templateId, recipient, tag, locale, externalId, attribute, mode } =
  messageFilters;

/** The filters of the console, whose periods are relative. */
const SavedQuery = StrictObject({
  search,
  state,
  templateId,
  recipient,
  tag,
  locale,
  externalId,
  attribute,
  mode,
  period: Type.Optional(
    Type.Enum(['1h', '24h', '7d', '30d'], { description: 'The time before now.' }),
  ),
});

const SavedFilterView = NamedObject('SavedFilter', { name: Type.String(), query: SavedQuery });

/** The caller, whose own the filters are; undefined for an API key, which has none. */
function ownerOf(call: OperationCall) {
  const personId = personOf(actorOf(call));
  return personId && { accountId: call.params.accountId, personId };
}

async function readAll(call: OperationCall, kysely = call.kysely) {
  const owner = ownerOf(call);
  return owner === undefined ? [] : readSavedFilters<Static<typeof SavedQuery>>(kysely, owner);
}

const filterOf = resourceOf({
  kind: 'saved_filter',
  id: 'filterName',
  audited: false,
  async read(transaction, call) {
    const all = await readAll(call, transaction);
    return all.find(({ name }) => name === call.params.filterName);
  },
});

export const savedFilterRoutes = resourceRoutes({
  path: '/accounts/:accountId/saved-filters/:filterName',
  access: { read: 'messages:read', write: 'messages:read' },
  view: SavedFilterView,
  resource: filterOf,
  list: {
    id: 'listSavedFilters',
    summary: 'List your saved filters of messages',
    key: 'name',
    read: async (call, { after }) => (await readAll(call)).filter(({ name }) => name > after),
  },
  get: { id: 'getSavedFilter', summary: 'Get a saved filter' },
  put: {
    id: 'putSavedFilter',
    summary: 'Save a filter of messages under a name',
    description: `Only you see it. At most ${maxSavedFilters} per account.`,
    body: StrictObject({ query: SavedQuery }),
    write(call) {
      const { query } = call.body;
      readOptionalLocale(query.locale);
      const owner = ownerOf(call);
      if (owner === undefined)
        throw conflict('Only people have saved filters. Sign in to save one');
      return async (transaction) => {
        const filter = { name: call.params.filterName, query };
        if (!(await saveFilter(transaction, owner, filter)))
          throw conflict(
            `You have ${maxSavedFilters} saved filters. Remove one before you save another`,
          );
      };
    },
  },
  remove: {
    id: 'deleteSavedFilter',
    summary: 'Remove a saved filter',
    write: (call) => async (transaction) => {
      const owner = ownerOf(call);
      if (owner !== undefined) await removeFilter(transaction, owner, call.params.filterName);
    },
  },
});
