/** File descriptors reserved for the database, SMTP and imports. */
const reserved = 512;

/** Caps the connections of this process to what the open file limit (`ulimit -n`) allows. */
export function capToOpenFileLimit(requested: number): number {
  const report = process.report.getReport() as unknown as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  const files = Number(report.userLimits?.open_files?.soft);
  if (!Number.isSafeInteger(files) || files <= 0) return requested;
  return Math.max(1, Math.min(requested, Math.max(files - reserved, Math.floor(files / 2))));
}
