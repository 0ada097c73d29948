import { Type } from 'typebox';
import { problemCatalog } from '../answer/problem.ts';

const types = Object.keys(problemCatalog).map((code) => `/problems/${code}`);

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
