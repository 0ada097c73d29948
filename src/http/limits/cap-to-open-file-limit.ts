/** File descriptors reserved for the database, SMTP and imports. */
const reserved = 512;

/** As in the unit of docs/operate/deploy.md. */
export const wantedOpenFiles = 65_536;
/** With fewer, an ordinary number of clients and deliveries comes close to the limit. */
export const minOpenFiles = 1_024;

let knownLimit: { readonly files: number | undefined } | undefined;

/** The limit of open files (`ulimit -n`) of this process; undefined if there is none or it is unknown. */
export function readOpenFileLimit(): number | undefined {
  // Node's only way to the limit is a report on the whole process, which takes milliseconds.
  knownLimit ??= { files: limitInReport() };
  return knownLimit.files;
}

function limitInReport(): number | undefined {
  const report = process.report.getReport() as unknown as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  const files = Number(report.userLimits?.open_files?.soft);
  return Number.isSafeInteger(files) && files > 0 ? files : undefined;
}

/** Caps the connections of this process to what the open file limit allows. */
export function capToOpenFileLimit(requested: number): number {
  const files = readOpenFileLimit();
  if (files === undefined) return requested;
  return Math.max(1, Math.min(requested, Math.max(files - reserved, Math.floor(files / 2))));
}
