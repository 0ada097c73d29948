import { Type } from 'typebox';
import { maxFailures, readFailures } from '../../../accounts/requests/failed-request-store.ts';
import {
  NamedObject,
  Nullable,
  optional,
  Text,
  Time,
  Uuid,
  Whole,
} from '../../../base/values/common-schemas.ts';
import { definePages } from '../answer/list-operations.ts';
import { viewOf } from '../answer/view-of.ts';

const FailureDetailView = NamedObject('FailureDetail', {
  field: Text('The member of the request; empty if it is about the whole.'),
  reason: Text('What was wrong with it, without values.'),
});

const FailedRequestView = NamedObject('FailedRequest', {
  id: Uuid,
  at: Time('When it was written, about a second after it failed.'),
  clientId: Text('The ID of the API key or OAuth app.'),
  clientName: Nullable(Text('Its name, while it exists.')),
  method: Type.String(),
  route: Text('The pattern of the path, such as `/ete/v1/email/:accountId/:templateId`.'),
  status: Whole('The status of the response.'),
  error: Text('The name of the error, such as `VALIDATION_FAILED` or `not-found`.'),
  details: Type.Array(FailureDetailView),
});

export const listFailedRequests = definePages({
  id: 'listFailedRequests',
  summary: 'List requests that failed, newest first',
  description: `Requests with a valid API key or access token, for 30 days and up to ${maxFailures.toLocaleString('en-US')}. They have no bodies and no values, and appear about a second later. Responses with 503 aren’t listed.`,
  filters: optional({
    clientId: Text('Only requests with this API key or OAuth app.', { maxLength: 100 }),
    error: Text('Only requests with this error.', { maxLength: 100 }),
  }),
  item: FailedRequestView,
  cursor: ['uuid'],
  read: (
    { kysely, params, query: { clientId, error } },
    { after: [before] = [undefined], limit },
  ) => readFailures(kysely, params.accountId, { clientId, error, before, limit }),
  view: (failure) => viewOf(FailedRequestView)(failure),
  place: ({ id }) => [id],
});
