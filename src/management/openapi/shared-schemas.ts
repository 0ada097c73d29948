import { Type } from 'typebox';
import { errorCatalog } from '../../http/error-catalog.ts';
import { Nullable } from '../answer/common-schemas.ts';
import { problemCatalogue } from '../answer/problem.ts';

const types = Object.keys(problemCatalogue).map((code) => `/problems/${code}`);

/** Problem details (RFC 9457), the body of every management API error. */
export const ProblemSchema = Type.Object(
  {
    type: Type.Enum(types, { description: 'Identifies the kind of problem.' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'One sentence about this particular request.' }),
    errors: Type.Optional(
      Type.Array(Type.Object({ field: Type.String(), reason: Type.String() }), {
        description: 'Every invalid value.',
      }),
    ),
    requestId: Type.String(),
  },
  { title: 'Problem' },
);

/** An error of the contract's send and message operations. */
export const FaultSchema = Type.Object(
  {
    success: Type.Literal(false),
    status: Type.Integer(),
    errorName: Type.Enum(Object.keys(errorCatalog)),
    message: Type.String({ description: 'The exact text of the contract.' }),
    details: Type.Array(Type.Object({ field: Type.String(), reason: Type.String() })),
    suppressedRecipients: Type.Optional(Type.Array(Type.String())),
    requestId: Type.String(),
  },
  { title: 'Fault' },
);

/** RFC 6749 section 5.2. */
export const OAuthErrorSchema = Type.Object(
  { error: Type.String(), error_description: Type.Optional(Type.String()) },
  { title: 'OAuthError' },
);

export const TokenSchema = Type.Object(
  {
    token_type: Type.Literal('bearer'),
    expires_in: Type.Literal(3600, { description: 'Seconds.' }),
    access_token: Type.String(),
    refresh_token: Type.String({ description: 'Works once.' }),
  },
  { title: 'TokenResponse' },
);

export const AcceptedSchema = Type.Object(
  {
    success: Type.Literal(true),
    message: Type.Literal('Successfully Accepted'),
    messageId: Type.String({ format: 'uuid' }),
    suppressedRecipients: Type.Array(Type.String(), {
      description: 'Cc addresses skipped because they are suppressed.',
    }),
  },
  { title: 'Accepted' },
);

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
