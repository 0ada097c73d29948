import { Type } from 'typebox';
import { problemCatalogue } from '../answer/problem.ts';

const types = Object.keys(problemCatalogue).map((code) => `/problems/${code}`);

/** Problem details (RFC 9457), as the management API answers every refusal. */
export const ProblemSchema = Type.Object(
  {
    type: Type.Enum(types, { description: 'Names the kind of problem.' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'One sentence about this very request.' }),
    errors: Type.Optional(
      Type.Array(Type.Object({ field: Type.String(), reason: Type.String() }), {
        description: 'Every value that cannot be used.',
      }),
    ),
    requestId: Type.String(),
  },
  { title: 'Problem' },
);
