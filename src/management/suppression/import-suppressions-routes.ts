import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Type } from 'typebox';
import { importSuppressions as importCsv } from '../../feedback/suppression/suppression-csv.ts';
import { invalid, Problem } from '../answer/problem.ts';
import { strict } from '../answer/schema-parts.ts';
import { atMost } from '../at-most.ts';
import { inTransaction, record } from '../change-resource.ts';
import { accountOf, endpoint } from '../endpoint.ts';

/** Bytes of a file. */
const largestFile = 50_000_000;

export const importSuppressions = endpoint({
  id: 'importSuppressions',
  summary: 'Suppress the addresses of a CSV file, as the export writes it',
  description:
    'Only the column `address` must be there; a missing reason means `manual`. Lines with problems are left out. The same file again adds nothing.',
  body: Type.String({ description: 'The file.' }),
  accepts: 'text/csv',
  answer: Type.Object(
    {
      added: Type.Integer(),
      known: Type.Integer({ description: 'Entries that were there already.' }),
      problems: Type.Array(Type.Object({ line: Type.Integer(), reason: Type.String() }, strict), {
        description: 'Of the first wrong lines.',
      }),
    },
    { ...strict, title: 'SuppressionImport' },
  ),
  async handle(call) {
    const { body } = call as { body: unknown };
    if (!(body instanceof Readable))
      throw new Problem('unsupported-media-type', 'Send the file as text/csv');
    const csv = await text(body.pipe(atMost(largestFile)));
    try {
      const result = await importCsv(call.parts.database, accountOf(call).id, csv);
      await inTransaction(call, (transaction) =>
        record(call, transaction, 'suppressions_imported', 'suppressions', { added: result.added }),
      );
      return { ...result, problems: [...result.problems] };
    } catch (error) {
      if (error instanceof RangeError) throw invalid('file', error.message);
      throw error;
    }
  },
});
