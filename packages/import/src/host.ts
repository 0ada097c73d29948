/** What an import needs of the program that runs it. */
export interface ImportHost {
  /** Prints a result: as text, or as the object if the caller wants JSON. */
  print(text: string, result: object): void;
  warn(line: string): void;
  /** The text files of a template's folder, by name. */
  templateFiles(template: FolderTemplate): ReadonlyMap<string, string>;
  /** Rows of a CSV file by the names in its header. */
  readCsv(file: Buffer): readonly Readonly<Record<string, string>>[];
  /** Which of the columns has addresses. */
  findAddressColumn(columns: readonly string[]): string | undefined;
  /** Why an address can be suppressed. */
  readonly reasons: readonly string[];
  /** The management API of an account. */
  connect(): Connection;
}

interface FolderTemplate {
  readonly name: string;
  readonly subject: string;
  readonly html: string | undefined;
  readonly text: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface Connection {
  call(
    method: 'GET' | 'PUT',
    path: string,
    request?: { readonly csv: string },
  ): Promise<{ readonly body: unknown }>;
}

/** Something that the caller can fix; the message is one sentence without its period. */
export class ImportProblem extends Error {
  override name = 'ImportProblem';
}
